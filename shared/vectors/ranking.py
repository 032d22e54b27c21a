"""One order of hits for every engine.

Engines order equal scores by insertion, and differently for different limits; identical paragraphs are common in real documents.
"""

import heapq
import uuid
from collections.abc import Callable
from typing import TypeAlias

from shared.vectors.point_ids import unpack
from shared.vectors.port import Hit

Found: TypeAlias = tuple[float, uuid.UUID]  # score, packed block id
_SLACK = 16  # asked for beyond the limit: most searches then end with one request
_GROWTH = 8


def top(fetch: Callable[[int], list[Found]], limit: int) -> list[Hit]:
    """The first `limit` hits by score desc, doc_id, index, whatever order the engine gives equal scores.

    `fetch(n)`: the engine's n best, best first; called again with more until the score at the limit is exhausted. No cap: at worst
    (every block the same) the whole collection is fetched.
    """
    if limit <= 0:
        return []
    asked = limit + _SLACK
    found = fetch(asked)
    while len(found) == asked and found[-1][0] == found[limit - 1][0]:
        asked *= _GROWTH
        found = fetch(asked)
    return [_hit(*best) for best in heapq.nsmallest(limit, found, key=_rank)]


def by_rank(hit: Hit) -> tuple[float, str, int, str]:
    """The same order over finished hits."""
    return (-hit.score, hit.doc_id, hit.index, hit.block_id)


def _rank(found: Found) -> tuple[float, int]:
    return (-found[0], found[1].int)


def _hit(score: float, packed: uuid.UUID) -> Hit:
    block, doc, index = unpack(packed)
    return Hit(block_id=block, doc_id=doc, index=index, score=score)
