"""How a stack talks with the bench: files in one folder. Runs in the stack's own environment; nothing of Citebound is imported.

python with_STACK.py split FOLDER     documents.jsonl -> blocks.jsonl, cut by the stack's own splitter
python with_STACK.py search FOLDER    blocks.jsonl, vectors.npy, questions.jsonl, question_vectors.npy -> rankings.jsonl
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

DEPTH = 20  # blocks in a ranking, and candidates of each branch
HAN_PATTERN = r"(?u)[\u3400-\u9fff]|[^\W\u3400-\u9fff]+"  # a Chinese character is a word; the rest as usual

Split = Callable[[list[dict[str, str]], int], Iterator[dict[str, str]]]
Ask = Callable[[str], list[str]]
Build = Callable[["Task"], Ask]


class Task:
    """What `search` is given: blocks with their vectors, and how words are told apart."""

    def __init__(self, folder: Path) -> None:
        request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
        self.han: bool = request["han"]  # the keyword branch is told that Chinese has no spaces
        self.blocks = list(_lines(folder / "blocks.jsonl"))
        self.vectors = np.load(folder / "vectors.npy")
        self.questions = [line["text"] for line in _lines(folder / "questions.jsonl")]
        self.by_text = dict(zip(self.questions, np.load(folder / "question_vectors.npy"), strict=True))
        self.by_text |= dict(zip((block["embedded"] for block in self.blocks), self.vectors, strict=True))

    def embed(self, text: str) -> list[float]:
        """The vector that the bench made of this very text; every stack compares the same numbers."""
        return self.by_text[text].tolist()


def main(split: Split, build: Build) -> None:
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "split":
        request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
        _write(folder / "blocks.jsonl", split(list(_lines(folder / "documents.jsonl")), request["block_tokens"]))
        return
    task = Task(folder)
    ask = build(task)
    _write(folder / "rankings.jsonl", (_timed(ask, question) for question in task.questions))


def _timed(ask: Ask, question: str) -> dict[str, Any]:
    began = time.perf_counter_ns()
    ids = ask(question)
    return {"ids": ids[:DEPTH], "ms": (time.perf_counter_ns() - began) / 1e6}


def _lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _write(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
