"""One order of hits for every engine.

Engines order equal scores by insertion, and differently for different limits; identical paragraphs are common in real documents.
"""

import heapq
import uuid
from collections.abc import Callable, Collection
from typing import TypeAlias

from shared.ids import DocId
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


def of_documents(doc_ids: Collection[DocId], found: list[Found], limit: int, *, asked: int) -> list[Hit] | None:
    """The first `limit` hits of these documents, out of the engine's `asked` best of all; None = there may be others before them."""
    kept = [hit for hit in (_hit(*one) for one in found) if hit.doc_id in doc_ids]
    if len(found) == asked and (len(kept) < limit or kept[limit - 1].score == found[-1][0]):
        return None
    return sorted(kept, key=by_rank)[:limit]


def by_rank(hit: Hit) -> tuple[float, str, int, str]:
    """The same order over finished hits."""
    return (-hit.score, hit.doc_id, hit.index, hit.block_id)


def _rank(found: Found) -> tuple[float, int]:
    return (-found[0], found[1].int)


def _hit(score: float, packed: uuid.UUID) -> Hit:
    block, doc, index = unpack(packed)
    return Hit(block_id=block, doc_id=doc, index=index, score=score)
