"""Reciprocal rank fusion, in our code so that equal inputs give the same list on every machine.

The engine's own counts ranks from 0 and breaks ties by insertion order (FACTS); this one counts from 1 and has a total order.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from shared.ids import BlockId, DocId
from shared.vectors.port import Hit


class Profile(Struct, frozen=True, kw_only=True):
    """A way of searching, by name; changing a number makes a new one."""

    name: str
    dense: int  # candidates of each branch
    keyword: int
    k: int  # rank r of a branch is worth 1 / (k + r)
    top: int  # blocks returned


HYBRID_RRF_V1 = Profile(name="hybrid-rrf-v1", dense=20, keyword=20, k=60, top=5)


class Fused(Struct, frozen=True, kw_only=True):
    block_id: BlockId
    doc_id: DocId
    index: int
    score: float
    ranks: tuple[int | None, ...]  # 1.. in each branch, None where the branch did not return it


def fuse(branches: Sequence[Sequence[Hit]], *, k: int) -> list[Fused]:
    """Every block of any branch once, by score desc, doc_id, index, block_id.

    branches: each in its own order, best first; a block that a branch repeats counts where it stands first.
    Exactly rounded sums, so that the order of the branches cannot matter.
    Source: spec/04 "Hybrid search"; Cormack, Clarke, Büttcher 2009.
    """
    hits: dict[BlockId, Hit] = {}
    ranks: list[dict[BlockId, int]] = []
    for branch in branches:
        places: dict[BlockId, int] = {}
        for hit in branch:
            if hit.block_id not in places:
                places[hit.block_id] = len(places) + 1
                hits.setdefault(hit.block_id, hit)
        ranks.append(places)
    fused = [
        Fused(
            block_id=hit.block_id,
            doc_id=hit.doc_id,
            index=hit.index,
            score=math.fsum(1 / (k + places[hit.block_id]) for places in ranks if hit.block_id in places),
            ranks=tuple(places.get(hit.block_id) for places in ranks),
        )
        for hit in hits.values()
    ]
    return sorted(fused, key=lambda one: (-one.score, one.doc_id, one.index, one.block_id))
