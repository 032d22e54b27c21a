"""What a run may still spend, and how large its next call would be. Pure.

All figures are chat tokens as the run's provider counts them, as far as this run has learned that (metering.py); embedding tokens are kept
apart. So what a run spends exceeds its limit at most by what its last call took above all that calls had shown before (decision 0143).
Source: spec/05 "Budgets".
"""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from api.agent.metering import Context, Rates
from shared.text.tokens import least_tokens
from shared.types.runs import Limits, Usage

MESSAGE_TOKENS = 5  # what chat templates put around one message
CLOSING_TOKENS = 700  # a refused observation and the request for the final answer, in either language (tested)
MIN_REPLY_TOKENS = 64  # below this no decision can be expected
SHORT_ANSWER_TOKENS = 400  # what a last answer may be cut down to where calls cost more than expected

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


def reserve(limits: Limits, rates: Rates) -> int:
    """Of the limits, what is kept back for the last call: the request for an answer as the provider counts it, and the answer."""
    return limits.finalization_reserve_tokens + rates.scaled(CLOSING_TOKENS) - CLOSING_TOKENS


def admit(tokens: int, *, context: Context, spent: Usage, limits: Limits, rates: Rates) -> Verdict:
    """Decide whether one whole observation may enter the context.

    `tokens`: our count of the exact text that would be sent; the verdict's are the provider's. `context` is the conversation without it.
    It must fit into one call beside the reserve, and the run must still be able to pay for its final answer with it.
    Source: spec/05 "Admission is done once, by the harness"; promise 4.
    """
    tokens = rates.scaled(tokens)
    kept_back = reserve(limits, rates) + context.tokens(rates)
    room = limits.max_context_tokens - kept_back
    if tokens > room:
        return _refused("context_budget_exceeded", tokens, room, limits.max_context_tokens)
    room = limits.max_request_tokens - kept_back - rates.beyond - chat_tokens(spent)
    if tokens > room:
        return _refused("request_budget_exceeded", tokens, room, limits.max_request_tokens)
    return Admitted(tokens=tokens)


def refused_by_bytes(
    size_bytes: int, *, context: Context, spent: Usage, limits: Limits, rates: Rates
) -> Refused | None:
    """The refusal of an observation of which that many bytes are a part, if it is bound to come; None = it must be counted.

    So that nobody makes a text of 32 MiB, and counts it, to say by how much it doesn't fit.
    """
    least = least_tokens(size_bytes) + MESSAGE_TOKENS
    verdict = admit(least, context=context, spent=spent, limits=limits, rates=rates)
    return replace(verdict, at_least=True) if isinstance(verdict, Refused) else None


def afford_turn(*, context: Context, spent: Usage, limits: Limits, rates: Rates) -> Verdict:
    """Decide whether a planning call may be made: itself, and the final call that must remain possible after it."""
    tokens, kept_back = context.tokens(rates), reserve(limits, rates)
    room = limits.max_context_tokens - kept_back
    if tokens > room:
        return _refused("context_budget_exceeded", tokens, room, limits.max_context_tokens)
    reply = reply_room(limits)
    last = tokens + reply + rates.kept + kept_back + rates.beyond  # the reply is part of the final call's input
    needed = tokens + reply + rates.beyond + last
    room = limits.max_request_tokens - chat_tokens(spent)
    if needed > room:
        return _refused("request_budget_exceeded", needed, room, limits.max_request_tokens)
    return Admitted(tokens=tokens)


def afford_final(*, context: Context, spent: Usage, limits: Limits, rates: Rates) -> Verdict:
    """Decide whether the last call may be made; the reserve is there for it.

    Where that was used up by calls that cost more than expected, a short answer does.
    """
    tokens = context.tokens(rates)
    if tokens > limits.max_context_tokens:
        return _refused("context_budget_exceeded", tokens, limits.max_context_tokens, limits.max_context_tokens)
    needed = tokens + min(reply_room(limits), SHORT_ANSWER_TOKENS) + rates.beyond
    room = limits.max_request_tokens - chat_tokens(spent)
    if needed > room:
        return _refused("request_budget_exceeded", needed, room, limits.max_request_tokens)
    return Admitted(tokens=tokens)


def asked_output(*, context: Context, spent: Usage, limits: Limits, rates: Rates) -> int:
    """Output tokens to allow a call that may be made: as many as usual, or what is left for it."""
    left = limits.max_request_tokens - chat_tokens(spent) - context.tokens(rates) - rates.beyond
    return min(reply_room(limits), left)


def chat_tokens(spent: Usage) -> int:
    return spent.chat_input_tokens + spent.chat_output_tokens


def _refused(code: LimitCode, tokens: int, room: int, limit: int) -> Refused:
    return Refused(code=code, tokens=tokens, room=max(room, 0), limit=limit)
