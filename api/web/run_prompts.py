"""Prompts as they were sent, and in what one differs from the one before. Pure."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from api.web.alike import Patience, opcodes
from api.web.run_spans import decoded

MOST_LINES = 4_000  # of a changed message: more are shown as replaced, finding what is alike would take seconds
Fate = Literal["first", "same", "changed", "added", "removed"]
Said: TypeAlias = tuple[str, str]  # role, text


class Part(Struct, frozen=True, kw_only=True):
    kind: Literal["same", "added", "removed"]
    text: str


class Message(Struct, frozen=True, kw_only=True):
    """One message of a prompt. Its parts but the removed ones, joined, are its text; but the added ones, what stood there before.

    `fate`: first = there is nothing to compare with; removed = it was in the prompt before and is not sent any more.
    """

    role: str
    fate: Fate
    parts: tuple[Part, ...]
    chars: int


def messages(prompt: str) -> tuple[Said, ...]:
    """The messages of a prompt in the form sent; text that is no such JSON is one message without a role."""
    found = decoded(prompt, list[dict[str, Any]])
    if found is None:
        return (("", prompt),)
    return tuple((str(one.get("role", "")), _text(one)) for one in found)


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    said = content if isinstance(content, str) else "" if content is None else pretty(content)
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    return "\n".join(filter(None, (said, pretty(rest) if rest else "")))


def pretty(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def differences(
    before: Sequence[Said] | None, after: Sequence[Said], patience: Patience | None = None
) -> tuple[Message, ...]:
    """`after`, message by message, with what is new against `before`; None = there was none."""
    patience = patience or Patience()
    steps = None if before is None else opcodes(before, after, patience)
    if before is None or steps is None:
        return tuple(_message(one, "first") for one in after)
    told: list[Message] = []
    for tag, i, i_end, j, j_end in steps:
        if tag == "equal":
            told += [_message(one, "same") for one in after[j:j_end]]
            continue
        old, new = before[i:i_end], after[j:j_end]
        both = (
            min(len(old), len(new)) if [one[0] for one in old[: len(new)]] == [one[0] for one in new[: len(old)]] else 0
        )
        told += [_changed(one, other, patience) for one, other in zip(old[:both], new[:both], strict=True)]
        told += [_message(one, "removed") for one in old[both:]]
        told += [_message(one, "added") for one in new[both:]]
    return tuple(told)


def parts(before: str, after: str, patience: Patience | None = None) -> tuple[Part, ...]:
    """Line by line: what is the same, what was there, what is there now."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    middle = _compared(old[head : len(old) - tail], new[head : len(new) - tail], patience or Patience())
    return _joined([("same", new[:head]), *middle, ("same", new[len(new) - tail :] if tail else [])])


_Run: TypeAlias = tuple[Literal["same", "added", "removed"], list[str]]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _compared(old: list[str], new: list[str], patience: Patience) -> list[_Run]:
    steps = opcodes(old, new, patience) if len(old) + len(new) <= MOST_LINES else None
    if steps is None:
        return [("removed", old), ("added", new)]
    told: list[_Run] = []
    for tag, i, i_end, j, j_end in steps:
        if tag == "equal":
            told.append(("same", new[j:j_end]))
        else:
            told.append(("removed", old[i:i_end]))
            told.append(("added", new[j:j_end]))
    return told


def _joined(runs: Sequence[_Run]) -> tuple[Part, ...]:
    return tuple(Part(kind=kind, text="".join(lines)) for kind, lines in runs if lines)


def _message(said: Said, fate: Literal["first", "same", "added", "removed"]) -> Message:
    role, text = said
    kind = "same" if fate in ("first", "same") else fate
    return Message(role=role, fate=fate, parts=(Part(kind=kind, text=text),), chars=len(text))


def _changed(before: Said, after: Said, patience: Patience) -> Message:
    role, text = after
    return Message(role=role, fate="changed", parts=parts(before[1], text, patience), chars=len(text))
