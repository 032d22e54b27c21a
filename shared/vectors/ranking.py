"""One order of hits for every engine.

Engines order equal scores by insertion, and differently for different limits; identical paragraphs are common in real documents.
"""

from collections.abc import Callable

from shared.vectors.port import Hit

_SLACK = 16  # asked for beyond the limit: most searches then end with one request
_GROWTH = 8


def top(fetch: Callable[[int], list[Hit]], limit: int) -> list[Hit]:
    """The first `limit` hits by score desc, doc_id, index, whatever order the engine gives equal scores.

    `fetch(n)`: the engine's n best, best first; called again with more until the score at the limit is exhausted. No cap: at worst
    (every block the same) the whole collection is fetched, 0.6 s for 100,000 blocks in the embedded engine.
    """
    if limit <= 0:
        return []
    asked = limit + _SLACK
    hits = fetch(asked)
    while len(hits) == asked and hits[-1].score == hits[limit - 1].score:
        asked *= _GROWTH
        hits = fetch(asked)
    return sorted(hits, key=by_rank)[:limit]


def by_rank(hit: Hit) -> tuple[float, str, int, str]:
    return (-hit.score, hit.doc_id, hit.index, hit.block_id)
