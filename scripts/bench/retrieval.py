"""How well the right blocks are found: our branches and profiles beside other stacks, on questions with verbatim gold quotes.

    .venv/bin/python -m scripts.bench.retrieval [--sets FOLDER] [--only NAME,…] [--peers llama_index,haystack | none]
        [--block-tokens 256] [--cache FOLDER] [--json]
Every stack embeds with the bundled model, cuts with its own splitter at the same size in tokens, and is judged alike (judge.py). The first
run embeds some 6,000 blocks for each stack and installs the peers; later ones take a few minutes.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from api.retrieval.fusion import SHIPPED
from scripts.bench.judge import Judge, Scores, by_group, difference, interval
from scripts.bench.ours import Ranked, ours
from scripts.bench.peers.host import PEERS, peer
from scripts.bench.questions import QuestionSet, question_sets
from scripts.bench.vectors import Vectors
from scripts.citebound.supervisor.supervise import ROOT

SETS_FOLDER = ROOT.parent / "shared" / "bench"
_WIDTH = 190


class Row(Struct, frozen=True, kw_only=True):
    """One stack on one question set."""

    stack: str
    blocks: int
    scores: tuple[Scores, ...]  # one for each question
    ms: tuple[float, ...]

    def of(self, measure: str, places: Sequence[int] | None = None) -> list[float]:
        scores = self.scores if places is None else [self.scores[at] for at in places]
        return [getattr(one, measure) for one in scores]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=Path, default=SETS_FOLDER)
    parser.add_argument("--only", type=_names, default=())
    parser.add_argument("--peers", type=_names, default=tuple(PEERS))
    parser.add_argument("--block-tokens", type=int, default=256)
    parser.add_argument("--cache", type=Path, default=Path(platformdirs.user_cache_dir("citebound")) / "bench")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    sets = question_sets(asked.sets, asked.only)
    if not sets:
        print(f"There are no question sets in {asked.sets}; --sets says where they are. Nothing was measured.")
        return
    vectors = Vectors(asked.cache)
    measured: dict[str, list[Row]] = {}
    try:
        for one in sets:
            print(f"{one.name}: {len(one.documents)} documents, {len(one.questions)} questions", file=sys.stderr)
            measured[one.name] = measure(one, vectors, asked.peers, block_tokens=asked.block_tokens, cache=asked.cache)
            if not asked.json:
                show(one, measured[one.name])
    finally:
        vectors.close()
    if asked.json:
        print(
            json.dumps(
                {name: [structs.asdict(row) for row in rows] for name, rows in measured.items()}, default=structs.asdict
            )
        )


def measure(
    questions: QuestionSet, vectors: Vectors, peers: Sequence[str], *, block_tokens: int, cache: Path
) -> list[Row]:
    found = ours(questions, vectors, block_tokens=block_tokens)
    for name in peers:
        with TemporaryDirectory(prefix="citebound-bench-") as work:
            found |= peer(name, questions, vectors, block_tokens=block_tokens, cache=cache, work=Path(work))
    return [_row(stack, ranked, questions) for stack, ranked in found.items()]


def show(questions: QuestionSet, rows: Sequence[Row]) -> None:
    console = Console(width=_WIDTH)
    console.print(_whole(questions, rows))
    groups = by_group(questions.questions)
    if len(groups) > 1:
        console.print(_grouped(groups, rows))


def _whole(questions: QuestionSet, rows: Sequence[Row]) -> Table:
    title = f"{questions.name}: {len(questions.documents)} documents, {len(questions.questions)} questions"
    table = Table(
        "stack",
        "blocks",
        "recall@5 [95 %]",
        "recall@20",
        "nDCG@10 [95 %]",
        "MRR",
        "ms p50",
        "p95",
        "recall@5 behind us",
        "nDCG@10 behind us",
        title=title,
    )
    shipped = next(row for row in rows if row.stack == SHIPPED.name)
    for row in rows:
        behind = (
            ["", ""]
            if row is shipped
            else [_signed(difference(shipped.of(m), row.of(m))) for m in ("recall_5", "ndcg_10")]
        )
        table.add_row(
            row.stack,
            f"{row.blocks}",
            _bounded(interval(row.of("recall_5"))),
            f"{statistics.fmean(row.of('recall_20')):.3f}",
            _bounded(interval(row.of("ndcg_10"))),
            f"{statistics.fmean(row.of('mrr')):.3f}",
            f"{statistics.median(row.ms):.1f}",
            f"{statistics.quantiles(row.ms, n=20)[-1]:.1f}",
            *behind,
        )
    return table


def _grouped(groups: Mapping[str, list[int]], rows: Sequence[Row]) -> Table:
    table = Table("recall@5 / nDCG@10", *(f"{name} ({len(places)})" for name, places in groups.items()))
    for row in rows:
        cells = (
            f"{statistics.fmean(row.of('recall_5', places)):.3f} / {statistics.fmean(row.of('ndcg_10', places)):.3f}"
            for places in groups.values()
        )
        table.add_row(row.stack, *cells)
    return table


def _row(stack: str, ranked: Ranked, questions: QuestionSet) -> Row:
    judge = Judge(ranked.blocks)
    return Row(
        stack=stack,
        blocks=len(ranked.blocks),
        scores=tuple(
            judge.scores(question, ranking)
            for question, ranking in zip(questions.questions, ranked.rankings, strict=True)
        ),
        ms=ranked.ms,
    )


def _bounded(figures: tuple[float, float, float]) -> str:
    mean, low, high = figures
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def _signed(figures: tuple[float, float, float]) -> str:
    mean, low, high = figures
    return f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"


def _names(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(name.strip() for name in text.split(","))


if __name__ == "__main__":
    main()
