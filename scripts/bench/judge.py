"""Which blocks answer a question, and how good a ranking is. Pure; the same for every stack, however it cuts and marks text.

A block is relevant to a gold quote when it comes from the quote's document and holds the quote; or holds an end of it that is at least half
of it; or lies inside of it and is at least half of it. Compared are letters and digits only, after NFKC and case folding: stacks differ in
what they leave of Markdown and of line ends.
"""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from scripts.bench.questions import Question

_NO_TEXT = re.compile(r"[\W_]+")
_RESAMPLES = 2_000
_SEED = 20261130

Floats = npt.NDArray[np.float64]


class Block(Struct, frozen=True):
    id: str
    doc: str  # name of the file it comes from
    text: str


class Scores(Struct, frozen=True, kw_only=True):
    recall_5: float
    recall_20: float
    ndcg_10: float
    mrr: float  # 1 / rank of the first relevant block, within 20


class Judge:
    """Knows one stack's blocks."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._by_doc: dict[str, list[tuple[str, str]]] = {}
        for block in blocks:
            self._by_doc.setdefault(block.doc, []).append((block.id, bare(block.text)))

    def relevant(self, question: Question) -> list[frozenset[str]]:
        """Of each gold quote: ids of the blocks that hold it."""
        return [
            frozenset(block for block, text in self._by_doc.get(gold.doc, ()) if holds(text, bare(gold.quote)))
            for gold in question.gold
        ]

    def scores(self, question: Question, ranking: Sequence[str]) -> Scores:
        """ranking: block ids, best first; 20 count."""
        return scores(self.relevant(question), ranking)


def bare(text: str) -> str:
    return _NO_TEXT.sub("", unicodedata.normalize("NFKC", text).casefold())


def holds(block: str, quote: str) -> bool:
    """Both bare."""
    if quote in block:
        return True
    half = (len(quote) + 1) // 2
    if len(block) >= half and block in quote:
        return True
    return any(
        block.endswith(quote[:length]) or block.startswith(quote[-length:])
        for length in range(min(len(quote), len(block)), half - 1, -1)
    )


def scores(gold: Sequence[frozenset[str]], ranking: Sequence[str]) -> Scores:
    """A quote counts where it is first held: nDCG is alpha-nDCG with alpha 1 (Clarke 2008), with one quote the common one.

    The ideal ranking takes, again and again, the block that holds most of what is missing; a quote that no block holds stays in it.
    """
    missing = set(range(len(gold)))
    gains: list[int] = []
    for block in ranking[:20]:
        new = {at for at in missing if block in gold[at]}
        missing -= new
        gains.append(len(new))
    first = next((rank for rank, gain in enumerate(gains, 1) if gain), None)
    return Scores(
        recall_5=sum(gains[:5]) / len(gold),
        recall_20=sum(gains) / len(gold),
        ndcg_10=_discounted(gains) / _discounted(_ideal(gold)),
        mrr=0.0 if first is None else 1 / first,
    )


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean, and the 95 % bootstrap interval of it; the same numbers for the same values."""
    array = np.asarray(values, np.float64)
    means = _resampled_means(array)
    return float(array.mean()), float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def difference(values: Sequence[float], others: Sequence[float]) -> tuple[float, float, float]:
    """The same of the paired differences."""
    return interval([one - other for one, other in zip(values, others, strict=True)])


def by_group(questions: Sequence[Question]) -> Mapping[str, list[int]]:
    """Places of the questions of each group."""
    groups: dict[str, list[int]] = {}
    for at, question in enumerate(questions):
        groups.setdefault(question.group, []).append(at)
    return dict(sorted(groups.items()))


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains[:10], 1))


def _ideal(gold: Sequence[frozenset[str]]) -> list[int]:
    missing = set(range(len(gold)))
    gains: list[int] = []
    while missing:
        holding: dict[str, set[int]] = {}
        for at in missing:
            for block in gold[at] or {f"nobody holds {at}"}:
                holding.setdefault(block, set()).add(at)
        best = max(holding.values(), key=len)
        gains.append(len(best))
        missing -= best
    return gains


def _resampled_means(values: Floats) -> Floats:
    drawn = np.random.default_rng(_SEED).integers(0, len(values), (_RESAMPLES, len(values)))
    return values[drawn].mean(axis=1)
