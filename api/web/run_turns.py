"""Turns of a run: what was asked of the model, what it said, what was called, what was let in, what was left. Pure."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from api.web.alike import Patience
from api.web.run_budget import Admission, Budget, admission, budget, is_admission
from api.web.run_prompts import Message, Said, differences, messages, pretty
from api.web.run_searches import SearchView, searches
from api.web.run_spans import Pair, artifact, decoded, facts, kind_of, label_of, number, text, took_ms, walked
from shared.telemetry import names
from shared.types.runs import Limits
from shared.types.traces import SpanNode

LONGEST_TEXT = 100_000  # characters of a result that a page shows; a run's file has them all
_SHOWN_IN_PLACE = frozenset({names.ADMISSION, names.PROTOCOL_ERROR, names.BRAKE, names.DECISION})


class Content(Struct, frozen=True, kw_only=True):
    """A text that a span refers to. `text` None: it was not kept. `cut`: there is more of it than is shown."""

    sha256: str
    size_bytes: int
    text: str | None
    cut: bool = False


class Ask(Struct, frozen=True, kw_only=True):
    """One real call of the model. Tokens as the provider counted them, 0 = it did not. `context_tokens`: as estimated before."""

    attempt: int
    model: str
    provider: str
    context_tokens: int
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    finish: str
    ms: float
    failed: str  # error code or ""
    message: str
    prompt: Content
    messages: tuple[Message, ...]  # () when the prompt was not kept
    reply: Content
    calls: Content | None  # native function calls
    reasoning: Content | None
    functions: Content | None  # that the model may call, in the native protocol


class ToolCall(Struct, frozen=True, kw_only=True):
    """`admission` None: nothing of it came before the model. `again`: it failed, and another attempt follows."""

    tool: str
    arguments: str
    attempt: int
    ms: float
    blocks: int
    empty_reason: str
    failed: str  # error code or ""
    message: str
    again: bool
    embedding_tokens: int
    rerank_tokens: int
    payload: Content
    searches: tuple[SearchView, ...]
    admission: Admission | None


class Turn(Struct, frozen=True, kw_only=True):
    """`decision`: what came of the reply. repeat = the very call of an earlier turn; aside = a step that a path prescribes; nothing = neither model nor tool."""

    number: int
    final: bool
    purpose: str
    ms: float
    asks: tuple[Ask, ...]
    decision: Literal["tool", "repeat", "misspoken", "failed", "answer", "aside", "nothing"]
    repeated: str  # what was called once more, with its arguments
    problems: tuple[str, ...]  # of replies that could not be understood
    brakes: tuple[str, ...]
    notes: tuple[tuple[str, tuple[Pair, ...]], ...]  # other events: name and facts
    calls: tuple[ToolCall, ...]
    budget: Budget | None


def turns(spans: Sequence[SpanNode], contents: Mapping[str, str], limits: Limits | None) -> tuple[Turn, ...]:
    """Every turn of a run, in order. `limits`: the run's; None = unknown."""
    found = [span for _, span in walked(spans) if kind_of(span) == "turn"]
    prompts = _Prompts()
    told: list[Turn] = []
    spent = called = 0
    for span in found:
        purpose = text(span.attributes, names.TURN_PURPOSE)
        asks = tuple(_ask(one, contents, prompts, purpose) for one in _of_kind(span, "chat"))
        calls = _calls(span, contents)
        problems = tuple(text(one.attributes, "problem") for one in span.events if one.name == names.PROTOCOL_ERROR)
        spent += sum(one.input_tokens + one.output_tokens for one in asks)
        called += sum(not one.again for one in calls)
        repeated = _repeated(span) if not calls else ""
        told.append(
            Turn(
                number=number(span.attributes, names.TURN_NUMBER),
                final=span.attributes.get(names.TURN_FINAL) is True,
                purpose=purpose,
                ms=took_ms(span),
                asks=asks,
                decision=_decision(asks, calls, problems, repeated, is_last=span is found[-1]),
                repeated=repeated,
                problems=problems,
                brakes=tuple(text(one.attributes, "kind") for one in span.events if one.name == names.BRAKE),
                notes=tuple(
                    (one.name, facts(one.attributes)) for one in span.events if one.name not in _SHOWN_IN_PLACE
                ),
                calls=calls,
                budget=_budget(asks, calls, limits, spent=spent, called=called),
            )
        )
    return tuple(told)


def _budget(
    asks: Sequence[Ask], calls: Sequence[ToolCall], limits: Limits | None, *, spent: int, called: int
) -> Budget | None:
    if limits is None or not (asks or calls):
        return None
    sent = asks[-1].input_tokens or asks[-1].context_tokens if asks else 0
    admissions = [one.admission for one in calls if one.admission is not None]
    return budget(sent, admissions, limits, spent=spent, calls=called)


def _decision(
    asks: Sequence[Ask], calls: Sequence[ToolCall], problems: Sequence[str], repeated: str, *, is_last: bool
) -> Literal["tool", "repeat", "misspoken", "failed", "answer", "aside", "nothing"]:
    if calls:
        return "tool"
    if repeated:
        return "repeat"
    if problems:
        return "misspoken"
    if asks and asks[-1].failed:
        return "failed"
    if not asks:
        return "nothing"
    return "answer" if is_last else "aside"


def _repeated(turn: SpanNode) -> str:
    said = [one.attributes for one in turn.events if one.name == names.DECISION]
    return " ".join((text(said[-1], "tool"), text(said[-1], "arguments"))) if said else ""


class _Prompts:
    """Those sent so far, so that each is compared with the one it grew out of."""

    def __init__(self) -> None:
        self._sent: list[tuple[str, tuple[Said, ...]]] = []
        self.patience = Patience()

    def against(self, purpose: str, prompt: tuple[Said, ...]) -> tuple[Said, ...] | None:
        """The last one that begins with the same message, else the last of the same purpose: conversations beside the run's own have none."""
        before = [one for _, one in self._sent if one[:1] == prompt[:1]]
        before = before or [one for said, one in self._sent if said == purpose]
        self._sent.append((purpose, prompt))
        return before[-1] if before else None


def _ask(span: SpanNode, contents: Mapping[str, str], prompts: _Prompts, purpose: str) -> Ask:
    said = span.attributes
    prompt = content(span, "prompt", contents, whole=True)
    sent = () if prompt.text is None else messages(prompt.text)
    finish = said.get(names.FINISH_REASONS)
    return Ask(
        attempt=number(said, names.ATTEMPT),
        model=text(said, names.RESPONSE_MODEL) or text(said, names.REQUEST_MODEL),
        provider=text(said, names.PROVIDER),
        context_tokens=number(said, names.CONTEXT_TOKENS),
        input_tokens=number(said, names.INPUT_TOKENS),
        output_tokens=number(said, names.OUTPUT_TOKENS),
        reasoning_tokens=number(said, names.REASONING_TOKENS),
        finish=", ".join(map(str, finish)) if isinstance(finish, list) else "",
        ms=took_ms(span),
        failed=_failed(span),
        message=span.status_message or "",
        prompt=prompt,
        messages=differences(prompts.against(purpose, sent), sent, prompts.patience) if sent else (),
        reply=content(span, "reply", contents, whole=True),
        calls=_maybe(span, "calls", contents),
        reasoning=_maybe(span, "reasoning", contents),
        functions=_maybe(span, "functions", contents),
    )


def _calls(turn: SpanNode, contents: Mapping[str, str]) -> tuple[ToolCall, ...]:
    """What is let in or refused is told right after the call that it is of."""
    spans = list(_of_kind(turn, "tool"))
    events = sorted((one for one in turn.events if is_admission(one)), key=lambda one: one.at_ns)
    told: list[ToolCall] = []
    for n, span in enumerate(spans):
        until = spans[n + 1].start_ns if n + 1 < len(spans) else None
        place = bisect_left(events, span.end_ns, key=lambda one: one.at_ns)
        own = [admission(one) for one in events[place : place + 1] if until is None or one.at_ns < until]
        again = n + 1 < len(spans) and number(spans[n + 1].attributes, names.ATTEMPT) > 1
        told.append(_call(span, contents, own[0] if own else None, again=again))
    return tuple(told)


def _call(span: SpanNode, contents: Mapping[str, str], own: Admission | None, *, again: bool) -> ToolCall:
    said = span.attributes
    payload = content(span, "payload", contents)
    return ToolCall(
        tool=text(said, names.TOOL_NAME) or label_of(span),
        arguments=text(said, names.TOOL_ARGUMENTS),
        attempt=number(said, names.ATTEMPT),
        ms=took_ms(span),
        blocks=number(said, names.RESULT_BLOCKS),
        empty_reason=text(said, names.EMPTY_REASON),
        failed=_failed(span),
        message=span.status_message or "",
        again=again,
        embedding_tokens=number(said, names.EMBEDDING_TOKENS),
        rerank_tokens=number(said, names.RERANK_TOKENS),
        payload=payload,
        searches=searches(span),
        admission=own,
    )


def content(span: SpanNode, name: str, contents: Mapping[str, str], *, whole: bool = False) -> Content:
    """JSON is laid out for reading, unless it is wanted as it is (`whole`)."""
    sha256, size_bytes = artifact(span, name)
    said = contents.get(sha256)
    if said is None or whole:
        return Content(sha256=sha256, size_bytes=size_bytes, text=said)
    value = decoded(said[:LONGEST_TEXT], dict[str, object]) or decoded(said[:LONGEST_TEXT], list[object])
    laid_out = said if value is None else pretty(value)
    cut = len(laid_out) > LONGEST_TEXT
    return Content(sha256=sha256, size_bytes=size_bytes, text=laid_out[:LONGEST_TEXT], cut=cut)


def _maybe(span: SpanNode, name: str, contents: Mapping[str, str]) -> Content | None:
    found = content(span, name, contents)
    return found if found.sha256 else None


def _failed(span: SpanNode) -> str:
    return text(span.attributes, names.ERROR_TYPE) or ("error" if span.status == "error" else "")


def _of_kind(turn: SpanNode, kind: str) -> Iterator[SpanNode]:
    """Beneath the turn, but in no other turn and in none of its own kind: a file may hold a thousand within one another."""
    left = list(reversed(turn.children))
    while left:
        span = left.pop()
        found = kind_of(span)
        if found == kind:
            yield span
        elif found != "turn":
            left += reversed(span.children)
