"""How well the built-in answerer quotes and declines, on samples of question sets with gold answers.

    .venv/bin/python -m scripts.bench.extractive SET… [--answerable 60] [--unanswerable 30] [--documents N] [--seed 1] [--json]
SET: a folder with documents/ and queries.jsonl, as in the shared bench sets. The bundled embedder reads the documents: all of a
set take minutes; `--documents` keeps those of the sampled questions and fills up with others at random, which is easier.
"""

import argparse
import json
import random
import shutil
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from scripts.citebound.commands.ask import ask_quietly
from scripts.citebound.commands.imports import send_paths, watch
from scripts.citebound.temporary import TemporaryInstance
from shared.types.runs import Answer

T = TypeVar("T")


class Gold(Struct, frozen=True):
    doc: str
    quote: str


class Query(Struct, frozen=True):
    question: str
    kind: str
    answers: tuple[str, ...] = ()
    gold: tuple[Gold, ...] = ()


class Row(Struct, frozen=True, kw_only=True):
    """Shares of the questions asked, 0..1."""

    name: str
    documents: int
    answerable: int
    quoted: float  # an accepted answer or a gold sentence stands in the answer
    refused: float  # of the answerable
    unanswerable: int
    declined: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    parser.add_argument("--answerable", type=int, default=60)
    parser.add_argument("--unanswerable", type=int, default=30)
    parser.add_argument("--documents", type=int, help="default: all of the set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = [
        measure(
            folder,
            answerable=asked.answerable,
            unanswerable=asked.unanswerable,
            documents=asked.documents,
            chance=random.Random(asked.seed),
        )
        for folder in asked.sets
    ]
    if asked.json:
        print(json.dumps([structs.asdict(row) for row in rows]))
    else:
        show(rows)


def measure(folder: Path, *, answerable: int, unanswerable: int, documents: int | None, chance: random.Random) -> Row:
    lines = (folder / "queries.jsonl").read_bytes().splitlines()
    queries = [msgspec.json.decode(line, type=Query) for line in lines]
    known = _sample([query for query in queries if query.gold], answerable, chance)
    unknown = _sample([query for query in queries if query.kind == "unanswerable"], unanswerable, chance)
    needed = {gold.doc for query in known for gold in query.gold}
    with tempfile.TemporaryDirectory(prefix="citebound-bench-") as name:
        library = Path(name) / "documents"
        count = _copy(folder / "documents", library, needed, documents, chance)
        instance = TemporaryInstance(Path(name), roots=[library])
        try:
            api = instance.start()
            watch(api, send_paths(api, [library], {}).import_id, show=False)
            told = [(query, ask_quietly(api, query.question)) for query in known]
            declined = [ask_quietly(api, query.question).status == "refused" for query in unknown]
        finally:
            instance.stop()
    return Row(
        name=folder.name,
        documents=count,
        answerable=len(known),
        quoted=_share([_quotes(answer, query) for query, answer in told]),
        refused=_share([answer.status == "refused" for _, answer in told]),
        unanswerable=len(unknown),
        declined=_share(declined),
    )


def show(rows: Sequence[Row]) -> None:
    table = Table("set", "documents", "answerable", "answer quoted", "declined", "unanswerable", "declined")
    for row in rows:
        table.add_row(
            row.name, f"{row.documents}", f"{row.answerable}", f"{row.quoted:.0%}", f"{row.refused:.0%}", f"{row.unanswerable}",
            f"{row.declined:.0%}",
        )  # fmt: skip
    Console().print(table)


def _copy(source: Path, target: Path, needed: set[str], most: int | None, chance: random.Random) -> int:
    """The documents of the questions, and others up to `most`; how many those are."""
    target.mkdir()
    wanted = {unicodedata.normalize("NFC", name) for name in needed}
    paths = sorted(source.iterdir())
    chosen = [path for path in paths if unicodedata.normalize("NFC", path.name) in wanted]
    others = [path for path in paths if path not in set(chosen)]
    chosen += others if most is None else _sample(others, max(most - len(chosen), 0), chance)
    for path in chosen:
        shutil.copy(path, target / path.name)
    return len(chosen)


def _quotes(answer: Answer, query: Query) -> bool:
    """A refusal that points at blocks quotes nothing."""
    said = _plain(answer.text)
    wanted = [*query.answers, *(gold.quote for gold in query.gold)]
    return answer.status != "refused" and any(_plain(text) in said for text in wanted if _plain(text))


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _sample(items: Sequence[T], number: int, chance: random.Random) -> list[T]:
    return chance.sample(items, min(number, len(items)))


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


if __name__ == "__main__":
    main()
