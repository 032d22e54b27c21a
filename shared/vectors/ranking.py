"""One order of hits for every engine.

Engines order equal scores by insertion, and differently for different limits; identical paragraphs are common in real documents.
Scores are rounded to STEP before anything is ordered or cut: processors differ in the last bits of a cosine. Keyword scores are multiples of it.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from shared.ids import DocId
from shared.vectors.point_ids import unpack
from shared.vectors.port import Hit, TakesLonger

Found: TypeAlias = tuple[float, uuid.UUID]  # score, packed block id
STEP = 2.0**-20
_SLACK = 16  # asked for beyond the limit: most searches then end with one request
_GROWTH = 8
_MOST = 5_000  # fetched at once where points can be looked through in order: 2 ms of engine without a pause


def rounded(score: float) -> float:
    return round(score / STEP) * STEP


def top(
    fetch: Callable[[int], list[Found]],
    limit: int,
    *,
    in_order: Iterable[Sequence[Found]] | None = None,
    briefly: bool = False,
) -> list[Hit]:
    """The first `limit` hits by score desc, doc_id, index, whatever order the engine gives equal scores.

    `fetch(n)`: the engine's n best, best first; called again with more until the score at the limit is exhausted.
    `in_order`: everything the engine could find, page by page, each page's ids above those of the one before: read in place of a fetch of
    more than _MOST, and only as far as needed. Without it there is no cap: at worst (every block the same) the whole collection is fetched.
    Raises: TakesLonger when one fetch isn't enough and it must be `briefly`.
    """
    if limit <= 0:
        return []
    asked = limit + _SLACK
    while (hits := out_of(found := fetch(asked), limit, asked=asked)) is None:
        if briefly:
            raise TakesLonger
        if in_order is not None and asked * _GROWTH > _MOST:
            return _completed(found, in_order, limit)
        asked *= _GROWTH
    return hits


def out_of(
    found: list[Found], limit: int, *, asked: int, doc_ids: Collection[DocId] | None = None, blur: float = 0.0
) -> list[Hit] | None:
    """The first `limit` hits (of these documents), out of the engine's `asked` best of all; None = others may come before one of them.

    blur: by how much the score of a block that was left out may be above the last one's that was found.
    """
    best = [(rounded(score), packed) for score, packed in found]
    kept = best if doc_ids is None else _of_these(best, doc_ids, limit)
    if len(best) == asked and (len(kept) < limit or kept[limit - 1][0] <= best[-1][0] + blur):
        return None
    return [_hit(*one) for one in sorted(kept, key=_rank)[:limit]]


def _completed(found: Sequence[Found], in_order: Iterable[Sequence[Found]], limit: int) -> list[Hit]:
    """Out of best ones whose score at the limit is that of the last: those above it, and of those that have it the first."""
    best = [(rounded(score), packed) for score, packed in found]
    last = best[-1][0]
    kept = [one for one in best if one[0] > last]
    for page in in_order:
        kept += [(last, packed) for score, packed in page if rounded(score) == last]
        if len(kept) >= limit:
            break
    return [_hit(*one) for one in sorted(kept, key=_rank)[:limit]]


def by_rank(hit: Hit) -> tuple[float, str, int, str]:
    """The same order over finished hits."""
    return (-hit.score, hit.doc_id, hit.index, hit.block_id)


def _of_these(best: Sequence[Found], doc_ids: Collection[DocId], limit: int) -> list[Found]:
    """Those of these documents, as far as they can be among the first `limit`."""
    kept: list[Found] = []
    for one in best:
        if len(kept) >= limit and one[0] < kept[limit - 1][0]:
            break
        if unpack(one[1])[1] in doc_ids:
            kept.append(one)
    return kept


def _rank(found: Found) -> tuple[float, int]:
    return (-found[0], found[1].int)


def _hit(score: float, packed: uuid.UUID) -> Hit:
    block, doc, index = unpack(packed)
    return Hit(block_id=block, doc_id=doc, index=index, score=score)
