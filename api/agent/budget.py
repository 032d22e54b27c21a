"""What a run may still spend, and how large its next call would be. Pure.

All figures are chat tokens by the run's own tokenizer unless the provider gave its own; embedding tokens are kept apart.
Source: spec/05 "Budgets".
"""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from shared.llm.port import ChatUsage
from shared.text.tokens import least_tokens
from shared.types.runs import Limits, Usage

MESSAGE_TOKENS = 5  # what chat templates put around one message
CLOSING_TOKENS = 700  # a refused observation and the request for the final answer, in either language (tested)
MIN_REPLY_TOKENS = 64  # below this no decision can be expected
# of our count that a provider's tokenizer may come to: those made for Chinese need about half of ours for Chinese text
LEAST_SHARE = 1 / 3
MOST_SHARE = 4  # those made of bytes or characters need at most about so many of ours
UNSEEN_INPUT = 20_000  # what a provider may put in front of a conversation
UNSEEN_OUTPUT = 40_000  # hidden reasoning that a provider doesn't count into the output limit (SiliconFlow: 32,768)

LimitCode = Literal["context_budget_exceeded", "request_budget_exceeded"]


class Admitted(Struct, frozen=True, kw_only=True):
    tokens: int


class Refused(Struct, frozen=True, kw_only=True):
    """`room`: what would have fitted, >= 0. `limit`: the limit that refuses."""

    code: LimitCode
    tokens: int
    room: int
    limit: int
    at_least: bool = False  # `tokens` were not counted: its bytes alone can't be fewer

    @property
    def size(self) -> str:
        """In tokens, as told."""
        return f"≥ {self.tokens}" if self.at_least else f"{self.tokens}"


Verdict: TypeAlias = Admitted | Refused


class Context(Struct, frozen=True, kw_only=True):
    """Size of the conversation as the next call would send it.

    `anchored`: the messages of the last call, by the provider's own count if `real`. `added`: our count of those added since.
    """

    anchored: int = 0
    added: int = 0
    real: bool = False

    @property
    def tokens(self) -> int:
        return self.anchored + self.added


def within_window(limits: Limits, window_tokens: int | None) -> Limits:
    """The limits for a model that takes no more than `window_tokens` at once, input and output together; None = unknown.

    A reserve made for a large window would leave a small one no room: it gets a quarter of it at most.
    """
    if window_tokens is None:
        return limits
    reserve = min(limits.finalization_reserve_tokens, max(window_tokens // 4, CLOSING_TOKENS + MIN_REPLY_TOKENS))
    limits = replace(limits, finalization_reserve_tokens=reserve)
    room = max(window_tokens - reply_room(limits), 1)
    return replace(limits, max_context_tokens=min(limits.max_context_tokens, room))


def reply_room(limits: Limits) -> int:
    """Output tokens asked of each call: an answer must fit into the reserve together with the request for it."""
    return max(limits.finalization_reserve_tokens - CLOSING_TOKENS, MIN_REPLY_TOKENS)


def grown(context: Context, tokens: int) -> Context:
    return replace(context, added=context.added + tokens)


def shrunk(context: Context, tokens: int) -> Context:
    """Without something that every call so far had carried: what the provider counted it as is not known, so nothing is."""
    return Context(anchored=max(context.tokens - tokens, 0), added=0, real=False)


def rescaled(context: Context, *, before: int, after: int) -> Context:
    """With less in what calls have carried: our count of the whole was `before` and is `after`.

    What the provider counted the lost part as is not known; by its count of the whole, it is taken to count every part alike.
    """
    return Context(anchored=-(-context.tokens * after // before), added=0, real=False)


def anchored(context: Context, usage: ChatUsage | None) -> Context:
    """After a call: what was sent is now known by the provider's count, if that count can be believed."""
    if usage is None or cut_short(context, usage) or not plausible_input(context.tokens, usage):
        return Context(anchored=context.tokens, added=0, real=False)
    return Context(anchored=usage.input_tokens, added=0, real=True)


def cut_short(context: Context, usage: ChatUsage) -> bool:
    """Whether the provider read much less than it was sent, or hardly any of what was added: some servers cut silently."""
    if usage.input_tokens <= 0:
        return False
    if not context.real:
        return usage.input_tokens < LEAST_SHARE * context.tokens
    return usage.input_tokens - context.anchored < LEAST_SHARE * context.added


def plausible_input(sent_tokens: int, usage: ChatUsage) -> bool:
    """False for a count that says nothing: none, or one that no tokenizer could come to."""
    return 0 < usage.input_tokens <= MOST_SHARE * sent_tokens + UNSEEN_INPUT


def plausible_output(reply_tokens: int, usage: ChatUsage, *, asked_tokens: int) -> bool:
    if usage.output_tokens <= 0:
        return reply_tokens == 0 and usage.output_tokens == 0
    return usage.output_tokens <= MOST_SHARE * max(reply_tokens, asked_tokens) + UNSEEN_OUTPUT


def charged(
    spent: Usage,
    *,
    sent_tokens: int,
    reply_tokens: int,
    asked_tokens: int,
    usage: ChatUsage | None,
    reasoning_tokens: int = 0,
) -> Usage:
    """Book one real model call, failed ones included; what the provider did not plausibly tell is estimated, never 0.

    sent_tokens, reply_tokens: our estimates of both directions. asked_tokens: output that it was allowed.
    reasoning_tokens: of reply_tokens, as far as it could be told apart.
    """
    sent, received, estimated = sent_tokens, reply_tokens, True
    if usage is not None:
        told_input = plausible_input(sent_tokens, usage)
        told_output = plausible_output(reply_tokens, usage, asked_tokens=asked_tokens)
        sent = usage.input_tokens if told_input else sent
        received = usage.output_tokens if told_output else received
        estimated = not (told_input and told_output)
        reasoning_tokens = usage.reasoning_tokens or reasoning_tokens
    return replace(
        spent,
        chat_input_tokens=spent.chat_input_tokens + sent,
        chat_output_tokens=spent.chat_output_tokens + received,
        reasoning_tokens=spent.reasoning_tokens + min(reasoning_tokens, received),
        model_calls=spent.model_calls + 1,
        estimated=spent.estimated or estimated,
    )


def admit(tokens: int, *, context: Context, spent: Usage, limits: Limits) -> Verdict:
    """Decide whether one whole observation may enter the context.

    `tokens` counts the exact text that would be sent; `context` is the conversation without it. It must fit into one
    call beside the reserve, and the run must still be able to pay for its final answer with it.
    Source: spec/05 "Admission is done once, by the harness"; promise 4.
    """
    reserve = limits.finalization_reserve_tokens
    room = limits.max_context_tokens - reserve - context.tokens
    if tokens > room:
        return _refused("context_budget_exceeded", tokens, room, limits.max_context_tokens)
    room = limits.max_request_tokens - reserve - context.tokens - chat_tokens(spent)
    if tokens > room:
        return _refused("request_budget_exceeded", tokens, room, limits.max_request_tokens)
    return Admitted(tokens=tokens)


def refused_by_bytes(size_bytes: int, *, context: Context, spent: Usage, limits: Limits) -> Refused | None:
    """The refusal of an observation of which that many bytes are a part, if it is bound to come; None = it must be counted.

    So that nobody makes a text of 32 MiB, and counts it, to say by how much it doesn't fit.
    """
    verdict = admit(least_tokens(size_bytes) + MESSAGE_TOKENS, context=context, spent=spent, limits=limits)
    return replace(verdict, at_least=True) if isinstance(verdict, Refused) else None


def afford_turn(*, context: Context, spent: Usage, limits: Limits) -> Verdict:
    """Decide whether a planning call may be made: itself, and the final call that must remain possible after it."""
    reserve = limits.finalization_reserve_tokens
    room = limits.max_context_tokens - reserve
    if context.tokens > room:
        return _refused("context_budget_exceeded", context.tokens, room, limits.max_context_tokens)
    needed = 2 * (context.tokens + reply_room(limits)) + reserve  # the reply is part of the final call's input
    room = limits.max_request_tokens - chat_tokens(spent)
    if needed > room:
        return _refused("request_budget_exceeded", needed, room, limits.max_request_tokens)
    return Admitted(tokens=context.tokens)


def afford_final(*, context: Context, spent: Usage, limits: Limits) -> Verdict:
    """Decide whether the last call may be made; the reserve is there for it."""
    if context.tokens > limits.max_context_tokens:
        return _refused("context_budget_exceeded", context.tokens, limits.max_context_tokens, limits.max_context_tokens)
    needed = context.tokens + reply_room(limits)
    room = limits.max_request_tokens - chat_tokens(spent)
    if needed > room:
        return _refused("request_budget_exceeded", needed, room, limits.max_request_tokens)
    return Admitted(tokens=context.tokens)


def chat_tokens(spent: Usage) -> int:
    return spent.chat_input_tokens + spent.chat_output_tokens


def _refused(code: LimitCode, tokens: int, room: int, limit: int) -> Refused:
    return Refused(code=code, tokens=tokens, room=max(room, 0), limit=limit)
