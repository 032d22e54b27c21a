"""Both branches made one list, in our code so that equal inputs give the same list on every machine. Pure.

The engine's own fusion counts ranks from 0 and breaks ties by insertion order (FACTS); this one counts from 1 and has a total order.
"""

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from shared.ids import BlockId, DocId
from shared.vectors.port import Hit


class Profile(Struct, frozen=True, kw_only=True):
    """A way of searching, by name; changing a number makes a new one."""

    name: str
    dense: int  # candidates of each branch
    keyword: int
    k: int  # where ranks count, rank r is worth 1 / (k + r)
    top: int  # blocks returned
    by: Literal["ranks", "scores"] = "ranks"
    across_languages: bool = False  # the query leaves out what only says which language it is in


HYBRID_RRF_V1 = Profile(name="hybrid-rrf-v1", dense=20, keyword=20, k=60, top=5)
HYBRID_SCORES_V2 = Profile(
    name="hybrid-scores-v2", dense=20, keyword=20, k=60, top=5, by="scores", across_languages=True
)
SHIPPED = HYBRID_SCORES_V2  # the measured best (decision 0066)


class Fused(Struct, frozen=True, kw_only=True):
    block_id: BlockId
    doc_id: DocId
    index: int
    score: float
    ranks: tuple[int | None, ...]  # 1.. in each branch, None where the branch did not return it


def fuse(branches: Sequence[Sequence[Hit]], *, k: int) -> list[Fused]:
    """Every block of any branch once, by reciprocal ranks: score desc, doc_id, index, block_id.

    branches: each in its own order, best first; a block that a branch repeats counts where it stands first.
    Exactly rounded sums, so that the order of the branches cannot matter.
    Source: spec/04 "Hybrid search"; Cormack, Clarke, Büttcher 2009.
    """
    once = [_once(branch) for branch in branches]
    return _summed(once, [[1 / (k + rank) for rank, _ in enumerate(branch, 1)] for branch in once])


def fuse_scores(dense: Sequence[Hit], keyword: Sequence[Hit], *, keyword_share: float) -> list[Fused]:
    """The same by scores, which say how far apart two neighbours are: each branch's own from 0 (its last hit) to 1 (its first).

    A branch is worth a half; the keyword branch only as much of it as the question's words say (`keyword_share`, 0..1).
    Source: decision 0066.
    """
    dense, keyword = _once(dense), _once(keyword)
    worth = [[0.5 * part for part in _spread(dense)], [0.5 * keyword_share * part for part in _spread(keyword)]]
    return _summed((dense, keyword), worth)


def keyword_share(best: float, asked: float) -> float:
    """How much the keyword branch has to say, 0..1: little when even its best block lacks most of what was asked for.

    best: the first hit's score; asked: the sum of the question's weights times IDF, unknown words included (`Collection.asked`).
    A question in another language than the documents shares a few stray words with them, which would outvote the dense branch.
    """
    return min(1.0, 1.25 * best / asked) ** 2 if asked > 0 else 0.0


def _spread(branch: Sequence[Hit]) -> list[float]:
    if not branch:
        return []
    scores = [hit.score for hit in branch]
    least, most = min(scores), max(scores)
    return [(score - least) / (most - least) if most > least else 1.0 for score in scores]


def _once(branch: Sequence[Hit]) -> list[Hit]:
    return list({hit.block_id: hit for hit in reversed(branch)}.values())[::-1]


def _summed(branches: Sequence[Sequence[Hit]], worth: Sequence[Sequence[float]]) -> list[Fused]:
    """worth: one for each hit of each branch."""
    found: dict[BlockId, tuple[Hit, list[int | None], list[float]]] = {}  # a hit, its rank in each branch, its shares
    for place, (branch, values) in enumerate(zip(branches, worth, strict=True)):
        for rank, (hit, value) in enumerate(zip(branch, values, strict=True), 1):
            known = found.get(hit.block_id)
            if known is None:
                known = found[hit.block_id] = (hit, [None] * len(branches), [])
            known[1][place] = rank
            known[2].append(value)
    fused = [
        Fused(block_id=hit.block_id, doc_id=hit.doc_id, index=hit.index, score=math.fsum(shares), ranks=tuple(ranks))
        for hit, ranks, shares in found.values()
    ]
    return sorted(fused, key=lambda one: (-one.score, one.doc_id, one.index, one.block_id))
