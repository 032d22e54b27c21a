"""Two runs beside each other: first in which versions they differ, then in what came of it. Pure."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final, Literal

from msgspec import Struct, structs

from api.web.alike import Patience
from api.web.run_prompts import Message, Part, Said, differences
from api.web.run_turns import Ask, Turn
from api.web.run_view import RunView, Version
from api.web.text_diff import text_parts
from shared.types.runs import Answer, Citation

AROUND: Final = 240  # characters shown beside a difference
LEFT_OUT: Final = "\n⋯\n"
Where = Literal["both", "left", "right"]
FigureName = Literal[
    "took", "model_calls", "tool_calls", "input", "output", "reasoning", "embedding", "rerank", "turns", "citations"
]


class VersionPair(Struct, frozen=True, kw_only=True):
    """None: this run has none of that. `name`: the right one's with its difference from the left's."""

    what: str
    left: Version | None
    right: Version | None
    name: tuple[Part, ...]


class CitedPair(Struct, frozen=True, kw_only=True):
    """A block that is cited on either side, by the markers it has there."""

    where: Where
    citation: Citation
    left: tuple[Citation, ...]
    right: tuple[Citation, ...]


class Figure(Struct, frozen=True, kw_only=True):
    name: FigureName
    left: int
    right: int


class PromptPair(Struct, frozen=True, kw_only=True):
    """The last prompts of two turns, the right one against the left. `kept`: both are there to be compared."""

    kept: bool
    messages: tuple[Message, ...]
    differ: bool
    reply: tuple[Part, ...]
    reply_differs: bool


class TurnPair(Struct, frozen=True, kw_only=True):
    """The turns of the same number. `prompts` None: one of them asked nothing of the model."""

    number: int
    left: Turn | None
    right: Turn | None
    differ: bool  # in what was decided or called
    prompts: PromptPair | None


class Compared(Struct, frozen=True, kw_only=True):
    """`question`, `answer`: the right one's text with its difference from the left's. `same_versions`: how many are the same."""

    question: tuple[Part, ...]
    same_question: bool
    versions: tuple[VersionPair, ...]
    same_versions: int
    answer: tuple[Part, ...]
    same_answer: bool
    cited: tuple[CitedPair, ...]
    figures: tuple[Figure, ...]
    turns: tuple[TurnPair, ...]


def compared(left: RunView, right: RunView) -> Compared:
    """Takes as long as the prompts are large: not for an event loop."""
    one, other, patience = left.answer, right.answer, Patience()
    versions = _versions(left.versions, right.versions)
    return Compared(
        question=text_parts(one.question, other.question),
        same_question=one.question == other.question,
        versions=tuple(pair for pair in versions if pair.left != pair.right),
        same_versions=sum(pair.left == pair.right for pair in versions),
        answer=text_parts(one.text, other.text),
        same_answer=one.text == other.text,
        cited=_cited(one.citations, other.citations),
        figures=_figures(left, right),
        turns=tuple(
            _turns(n, *pair, patience)
            for n, pair in enumerate(zip_longest(left.turns, right.turns, fillvalue=None), start=1)
        ),
    )


def _versions(left: Sequence[Version], right: Sequence[Version]) -> list[VersionPair]:
    """In the order of the left, then what only the right has. Both empty is no version."""
    one, other = ({found.what: found for found in side if found.name or found.sha256} for side in (left, right))
    names = dict.fromkeys([*one, *other])
    return [_pair(name, one.get(name), other.get(name)) for name in names]


def _pair(what: str, left: Version | None, right: Version | None) -> VersionPair:
    name = text_parts(left.name if left else "", right.name if right else "")
    return VersionPair(what=what, left=left, right=right, name=name)


def _cited(left: Sequence[Citation], right: Sequence[Citation]) -> tuple[CitedPair, ...]:
    """In common first, then what is only left, only right; the same block in another version is another."""
    pairs: list[CitedPair] = []
    for block_id in dict.fromkeys(citation.block_id for citation in (*left, *right)):
        one = tuple(citation for citation in left if citation.block_id == block_id)
        other = tuple(citation for citation in right if citation.block_id == block_id)
        where: Where = "both" if one and other else "left" if one else "right"
        pairs.append(CitedPair(where=where, citation=(one or other)[0], left=one, right=other))
    return tuple(sorted(pairs, key=lambda pair: ("both", "left", "right").index(pair.where)))


def _figures(left: RunView, right: RunView) -> tuple[Figure, ...]:
    one, other = _counted(left), _counted(right)
    return tuple(Figure(name=name, left=one[name], right=other[name]) for name in one if one[name] or other[name])


def _counted(view: RunView) -> dict[FigureName, int]:
    answer: Answer = view.answer
    usage = answer.usage
    return {
        "took": answer.duration_ms,
        "turns": len(view.turns),
        "model_calls": usage.model_calls,
        "tool_calls": usage.tool_calls,
        "input": usage.chat_input_tokens,
        "output": usage.chat_output_tokens,
        "reasoning": usage.reasoning_tokens,
        "embedding": usage.embedding_tokens,
        "rerank": usage.rerank_tokens,
        "citations": len(answer.citations),
    }


def _turns(number: int, left: Turn | None, right: Turn | None, patience: Patience) -> TurnPair:
    prompts = _prompts(left.asks[-1], right.asks[-1], patience) if left and right and left.asks and right.asks else None
    return TurnPair(number=number, left=left, right=right, differ=_did(left) != _did(right), prompts=prompts)


def _did(turn: Turn | None) -> tuple[object, ...] | None:
    if turn is None:
        return None
    return turn.decision, tuple((call.tool, call.arguments, call.blocks, call.failed) for call in turn.calls)


def _prompts(left: Ask, right: Ask, patience: Patience) -> PromptPair:
    kept = left.prompt.text is not None and right.prompt.text is not None
    told = differences(_sent(left), _sent(right), patience) if kept else ()
    messages = tuple(_shortened(one) if one.fate == "changed" else one for one in told)
    was, now = left.reply.text or "", right.reply.text or ""
    return PromptPair(
        kept=kept,
        messages=messages,
        differ=any(one.fate != "same" for one in messages),
        reply=text_parts(was, now, patience),
        reply_differs=was != now,
    )


def _sent(ask: Ask) -> tuple[Said, ...]:
    """The messages of a prompt as it was sent, out of their differences from the one before."""
    return tuple(
        (one.role, "".join(part.text for part in one.parts if part.kind != "removed"))
        for one in ask.messages
        if one.fate != "removed"
    )


def _shortened(message: Message) -> Message:
    """Only the surroundings of what differs: the whole prompt is on the page of its run."""
    parts = tuple(
        structs.replace(part, text=f"{part.text[:AROUND]}{LEFT_OUT}{part.text[-AROUND:]}")
        if part.kind == "same" and len(part.text) > 2 * AROUND + len(LEFT_OUT)
        else part
        for part in message.parts
    )
    return structs.replace(message, parts=parts)
