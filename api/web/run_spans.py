"""Spans as they are read for people: whatever they hold, reading them never raises. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeVar

import msgspec
from msgspec import Struct

from shared.telemetry import names
from shared.telemetry.artifacts import ARTIFACT_PREFIX
from shared.types.traces import Attributes, SpanNode

Kind = Literal[
    "run", "turn", "chat", "tool", "search", "embed", "dense", "keyword", "fusion", "rerank", "preference",
    "replay", "import", "stage", "other",
]  # fmt: skip
SCALE: Final = 1000  # units of a bar's whole width
LEAST: Final = 3  # of them are still seen
LONGEST: Final = 2_000  # characters of one attribute's value
_KINDS: Final[dict[str, Kind]] = {
    names.RUN: "run",
    names.TURN: "turn",
    names.SEARCH: "search",
    names.SEARCH_EMBED: "embed",
    names.SEARCH_DENSE: "dense",
    names.SEARCH_KEYWORD: "keyword",
    names.SEARCH_FUSION: "fusion",
    names.SEARCH_RERANK: "rerank",
    names.SEARCH_PREFERENCE: "preference",
    names.REPLAY: "replay",
    names.IMPORT: "import",
}
_PREFIXES: Final[tuple[tuple[str, Kind], ...]] = ((names.CHAT, "chat"), (names.TOOL, "tool"), (names.STAGE, "stage"))
_ELSEWHERE: Final = frozenset({names.CANDIDATES, names.MANIFEST, names.RUN_ID, names.IMPORT_ID})  # shown in their place
T = TypeVar("T")


class Pair(Struct, frozen=True, kw_only=True):
    name: str
    value: str


class Happened(Struct, frozen=True, kw_only=True):
    """An event of a span. `after_ms`: since the root began."""

    name: str
    after_ms: float
    facts: tuple[Pair, ...]


class Row(Struct, frozen=True, kw_only=True):
    """A span as a line of the waterfall. `start`, `width`: of SCALE. `label`: which one of its kind."""

    span_id: str
    depth: int
    kind: Kind
    label: str
    start: int
    width: int
    ms: float
    failed: bool
    message: str
    facts: tuple[Pair, ...]
    events: tuple[Happened, ...]


def kind_of(span: SpanNode) -> Kind:
    if (known := _KINDS.get(span.name)) is not None:
        return known
    for prefix, kind in _PREFIXES:
        if span.name.startswith(prefix):
            return kind
    return "other"


def label_of(span: SpanNode) -> str:
    """What tells a span from others of its kind."""
    match kind_of(span):
        case "turn":
            return str(span.attributes.get(names.TURN_NUMBER, ""))
        case "other":
            return span.name
        case _:
            return next((span.name[len(one) :].strip() for one, _ in _PREFIXES if span.name.startswith(one)), "")


def walked(spans: Sequence[SpanNode]) -> Iterator[tuple[int, SpanNode]]:
    """(depth, span): each before what is beneath it. However deep."""
    left = [(0, span) for span in reversed(spans)]
    while left:
        depth, span = left.pop()
        yield depth, span
        left += [(depth + 1, child) for child in reversed(span.children)]


def rows(spans: Sequence[SpanNode]) -> tuple[Row, ...]:
    every = list(walked(spans))
    first = min((span.start_ns for _, span in every), default=0)
    whole = max((span.end_ns for _, span in every), default=0) - first
    return tuple(_row(span, depth, first, max(whole, 1)) for depth, span in every)


def _row(span: SpanNode, depth: int, first_ns: int, whole_ns: int) -> Row:
    start = _share(span.start_ns - first_ns, whole_ns, most=SCALE - LEAST)
    width = max(_share(span.end_ns - span.start_ns, whole_ns, most=SCALE - start), LEAST)
    return Row(
        span_id=span.span_id,
        depth=depth,
        kind=kind_of(span),
        label=label_of(span),
        start=start,
        width=width,
        ms=took_ms(span),
        failed=span.status == "error",
        message=span.status_message or "",
        facts=facts(span.attributes),
        events=tuple(
            Happened(name=one.name, after_ms=(one.at_ns - first_ns) / 1e6, facts=facts(one.attributes))
            for one in span.events
        ),
    )


def _share(part: int, whole: int, *, most: int) -> int:
    return min(max(part * SCALE // whole, 0), most)


def took_ms(span: SpanNode) -> float:
    return max(span.end_ns - span.start_ns, 0) / 1e6


def facts(attributes: Attributes) -> tuple[Pair, ...]:
    """In the order of their names; what has a place of its own on the page is left out."""
    return tuple(
        Pair(name=_short(name), value=_value(value))
        for name, value in sorted(attributes.items())
        if name not in _ELSEWHERE
    )


def _short(name: str) -> str:
    return name.removeprefix("citebound.").removeprefix("gen_ai.")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    said = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    return said if len(said) <= LONGEST else said[:LONGEST] + "…"


def number(attributes: Attributes, name: str) -> int:
    """0 where there is none."""
    value = attributes.get(name)
    return int(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0


def text(attributes: Attributes, name: str) -> str:
    value = attributes.get(name)
    return value if isinstance(value, str) else ""


def artifact(span: SpanNode, name: str) -> tuple[str, int]:
    """(hash, bytes) of a content that the span speaks of; ("", 0) when of none."""
    return (
        text(span.attributes, f"{ARTIFACT_PREFIX}{name}.sha256"),
        number(span.attributes, f"{ARTIFACT_PREFIX}{name}.bytes"),
    )


def decoded(said: str, kind: type[T]) -> T | None:
    """JSON that may be anything, as a file that a person picked may hold."""
    try:
        return msgspec.json.decode(said, type=kind)
    except (msgspec.DecodeError, RecursionError):
        return None
