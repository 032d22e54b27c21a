"""Other people's stacks, each in an environment of its own, asked the same questions with the same vectors."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scripts.bench.judge import Block
from scripts.bench.ours import Ranked
from scripts.bench.questions import QuestionSet
from scripts.bench.vectors import Vectors

# Each in its usual configuration; LlamaIndex, whose words don't end inside of Chinese, also with a pattern that says so.
PEERS: Mapping[str, tuple[bool, ...]] = {"llama_index": (False, True), "haystack": (False,)}
STACKS = Path(__file__).parent / "stacks"


def peer(
    name: str, questions: QuestionSet, vectors: Vectors, *, block_tokens: int, cache: Path, work: Path
) -> dict[str, Ranked]:
    """By row of the table.

    Both steps get their files in `work`, an empty folder. Raises: subprocess.CalledProcessError, the stack failed; it said why.
    """
    python = environment(name, cache)
    _write(
        work / "documents.jsonl", ({"name": path.stem, "text": path.read_text("utf-8")} for path in questions.documents)
    )
    _run(python, name, "split", work, block_tokens=block_tokens, han=False)
    blocks = list(_read(work / "blocks.jsonl"))
    asked = [question.question for question in questions.questions]
    np.save(work / "vectors.npy", vectors.passages([block["embedded"] for block in blocks]))
    np.save(work / "question_vectors.npy", vectors.questions(asked))
    _write(work / "questions.jsonl", ({"text": text} for text in asked))
    files = {path.stem: path.name for path in questions.documents}
    judged = tuple(Block(block["id"], files[block["doc"]], block["text"]) for block in blocks)
    found: dict[str, Ranked] = {}
    for han in PEERS[name]:
        row = f"{name} hybrid, Chinese pattern" if han else f"{name} hybrid"
        _run(python, name, "search", work, block_tokens=block_tokens, han=han)
        lines = list(_read(work / "rankings.jsonl"))
        found[row] = Ranked(
            blocks=judged,
            rankings=tuple(tuple(line["ids"]) for line in lines),
            ms=tuple(line["ms"] for line in lines),
        )
    return found


def environment(name: str, cache: Path) -> Path:
    """The stack's own Python, made with its pinned packages from the public index when it isn't there."""
    folder = cache / "peers" / name
    requirements = STACKS / f"requirements-{name}.txt"
    python, made = folder / "bin" / "python", folder / "made-from.txt"
    if not made.is_file() or made.read_text("utf-8") != requirements.read_text("utf-8"):
        print(f"  installing {name} into {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "--requirement", requirements], check=True)
        made.write_text(requirements.read_text("utf-8"), "utf-8")
    return python


def _run(python: Path, name: str, step: str, work: Path, **request: object) -> None:
    (work / "request.json").write_text(json.dumps(request), "utf-8")
    subprocess.run([python, STACKS / f"with_{name}.py", step, work], check=True, stdout=subprocess.DEVNULL)


def _read(path: Path) -> Iterable[Any]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _write(path: Path, lines: Iterable[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
