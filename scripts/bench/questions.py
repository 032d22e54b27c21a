"""Question sets with verbatim gold quotes: documents to import, questions to ask, and where each answer stands."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

SETS = ("zh_single", "en_single", "multi_hop", "xling")
POOLED = {"xling in zh_single": ("xling", "zh_single")}  # the first set's questions, asked of the documents of both


class Gold(Struct, frozen=True):
    doc: str  # file name
    quote: str  # stands in that file


class Question(Struct, frozen=True):
    id: str
    question: str
    gold: tuple[Gold, ...]  # () = nothing in the documents answers it
    lang: str
    kind: str
    difficulty: str = ""
    doc_lang: str = ""
    type: str = ""

    @property
    def group(self) -> str:
        """The finest kind that the set tells apart."""
        if self.doc_lang:
            return f"{self.lang} about {self.doc_lang}"
        if self.type:
            return f"{self.kind}, {'comparison' if 'comparison' in self.type else 'chain'}"
        return f"{self.kind}, {self.difficulty}" if self.difficulty else self.kind


class QuestionSet(Struct, frozen=True, kw_only=True):
    name: str
    documents: tuple[Path, ...]
    questions: tuple[Question, ...]  # answerable ones: where nothing is to be found, nothing can be missed


_decoder = msgspec.json.Decoder(Question)


def question_sets(folder: Path, wanted: Sequence[str] = ()) -> list[QuestionSet]:
    """Those of SETS that `folder` holds, and POOLED where it holds both; `wanted` names some of them, () = all."""
    there = [name for name in SETS if (folder / name / "queries.jsonl").is_file()]
    found = [_read(folder, name, (name,)) for name in there if _is_wanted(name, wanted)]
    for name, parts in POOLED.items():
        if set(parts) <= set(there) and _is_wanted(name, wanted):
            found.append(_read(folder, name, parts))
    return found


def _is_wanted(name: str, wanted: Sequence[str]) -> bool:
    return not wanted or name in wanted


def _read(folder: Path, name: str, parts: Sequence[str]) -> QuestionSet:
    lines = (folder / parts[0] / "queries.jsonl").read_bytes().splitlines()
    questions = [_decoder.decode(line) for line in lines if line.strip()]
    return QuestionSet(
        name=name,
        documents=tuple(path for part in parts for path in sorted((folder / part / "documents").iterdir())),
        questions=tuple(question for question in questions if question.gold),
    )
