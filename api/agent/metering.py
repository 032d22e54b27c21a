"""How large a conversation is by its provider's own count, what a call cost, and what that teaches of the next ones. Pure.

Our figures are tokens by the run's own tokenizer. A provider may count more of the same text, put a text of its own before it, and
let a model think beyond what it was allowed, or where nobody sees it: a run learns it from the usage it is told (decision 0143).
Source: spec/05 "The next call's size is anchored on the provider's real usage".
"""

from fractions import Fraction
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from shared.llm.port import ChatUsage
from shared.types.runs import Usage

# of our count that a provider's tokenizer may come to: those made for Chinese need about half of ours for Chinese text
LEAST_SHARE = 1 / 3
MOST_SHARE = 4  # those made of bytes or characters need at most about so many of ours
UNSEEN_INPUT = 20_000  # what a provider may put in front of a conversation
UNSEEN_OUTPUT = 40_000  # hidden reasoning that a provider doesn't count into the output limit (SiliconFlow: 32,768)
_TELLING_TOKENS = 200  # fewer that were added between two calls say little of how a provider counts


class Rates(Struct, frozen=True, kw_only=True):
    """What this run's provider counts, as far as it was seen; at first as we do. Never less than we.

    `a_token`: of ours, 1 to 4. `overhead`: of a call beside that. `beyond`: output that a call may take above what it is allowed: what
    one took that did, beside what it said. `kept`: of a reply in the conversation, above what was allowed. `unseen`: output of a call
    that can be no count of what was heard. `calls`: tokens of their input, ours and theirs.
    """

    a_token: Fraction = Fraction(1)
    overhead: int = 0
    beyond: int = 0
    kept: int = 0
    unseen: int = 0
    steepest: Fraction = Fraction(1)  # of what was added between two calls
    calls: tuple[tuple[int, int], ...] = ()

    def scaled(self, tokens: int) -> int:
        return ceil(self.a_token * tokens)


class Context(Struct, frozen=True, kw_only=True):
    """The conversation as the next call would send it.

    `anchored`: of it, what the provider has counted, by its own count. `added`: the rest, by ours. `real`: the provider counted what
    the last call sent, and nothing of that has gone since.
    """

    anchored: int = 0
    added: int = 0
    real: bool = False

    def tokens(self, rates: Rates) -> int:
        return rates.scaled(self.added) + (self.anchored or (rates.overhead if self.added else 0))


def grown(context: Context, tokens: int) -> Context:
    return replace(context, added=context.added + tokens)


def rescaled(context: Context, *, before: int, after: int) -> Context:
    """With less in what the provider has counted: our count of that was `before` and is `after`.

    What the provider counted the lost part as is not known; by its count of the whole, it is taken to count every part alike.
    """
    return replace(context, anchored=-(-context.anchored * after // before), real=False)


def anchored(context: Context, input_tokens: int | None) -> Context:
    """After a call. `input_tokens`: what the provider says was sent, if it can be believed; else what it counted before still stands."""
    if input_tokens is None:
        return replace(context, real=False)
    return Context(anchored=input_tokens, added=0, real=True)


def cut_short(context: Context, counted: int, usage: ChatUsage) -> bool:
    """Whether the provider read much less than it was sent, or hardly any of what was added: some servers cut silently.

    counted: our count of all that was sent.
    """
    if usage.input_tokens <= 0:
        return False
    if not context.real:
        return usage.input_tokens < LEAST_SHARE * counted
    return usage.input_tokens - context.anchored < LEAST_SHARE * context.added


class Sent(Struct, frozen=True, kw_only=True):
    """One call. `tokens`: expected of the input. `counted`: our count of it. `asked`: output tokens that it was allowed."""

    context: Context
    tokens: int
    counted: int
    asked: int


class Heard(Struct, frozen=True, kw_only=True):
    """What came of it, by our count. `reasoning`: of `tokens`, as far as it could be told apart. `begun`: the model had begun to write."""

    tokens: int
    reasoning: int = 0
    begun: bool = True

    @property
    def said(self) -> int:
        return self.tokens - self.reasoning


class Told(Struct, frozen=True, kw_only=True):
    """What of a provider's figures can be believed."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int = 0


def believed(usage: ChatUsage | None, sent: Sent, heard: Heard) -> Told:
    if usage is None:
        return Told()
    return Told(
        input_tokens=usage.input_tokens if _plausible_input(sent.counted, usage) else None,
        output_tokens=usage.output_tokens if _plausible_output(heard.tokens, usage, asked=sent.asked) else None,
        reasoning_tokens=max(usage.reasoning_tokens, 0),
    )


def _plausible_input(counted: int, usage: ChatUsage) -> bool:
    """False for a count that says nothing: none, or one that no tokenizer could come to."""
    return 0 < usage.input_tokens <= MOST_SHARE * counted + UNSEEN_INPUT


def _plausible_output(heard: int, usage: ChatUsage, *, asked: int) -> bool:
    if usage.output_tokens <= 0:
        return heard == 0 and usage.output_tokens == 0
    return usage.output_tokens <= MOST_SHARE * max(heard, asked) + UNSEEN_OUTPUT


def charged(spent: Usage, sent: Sent, heard: Heard, told: Told, rates: Rates) -> Usage:
    """Book one real model call, failed ones included; what the provider did not plausibly tell is estimated, never 0."""
    received = _estimated_output(sent, heard, rates) if told.output_tokens is None else told.output_tokens
    reasoning = told.reasoning_tokens or heard.reasoning
    return replace(
        spent,
        chat_input_tokens=spent.chat_input_tokens + (told.input_tokens or sent.tokens),
        chat_output_tokens=spent.chat_output_tokens + received,
        reasoning_tokens=spent.reasoning_tokens + min(reasoning, received),
        model_calls=spent.model_calls + 1,
        estimated=spent.estimated or told.input_tokens is None or told.output_tokens is None,
    )


def _estimated_output(sent: Sent, heard: Heard, rates: Rates) -> int:
    """What was heard and what was never shown, as it was with other calls; by that alone no more than a call may write."""
    if not heard.begun:
        return heard.tokens
    return max(heard.tokens, min(rates.scaled(heard.tokens) + rates.unseen, sent.asked + rates.beyond))


def learned(rates: Rates, sent: Sent, heard: Heard, told: Told, *, whole: bool) -> Rates:
    """What one call shows of the next. `whole`: the provider read all that was sent, as far as can be told."""
    if told.input_tokens is not None and whole:
        rates = _learned_input(rates, sent, told.input_tokens)
    received = heard.tokens if told.output_tokens is None else told.output_tokens
    return replace(
        rates,
        beyond=max(rates.beyond, received - min(sent.asked, heard.said) if received > sent.asked else 0),
        unseen=max(rates.unseen, (told.output_tokens or 0) - MOST_SHARE * heard.tokens),
    )


def kept(rates: Rates, tokens: int, *, asked: int) -> Rates:
    """A reply of which `tokens`, by our count, stay in the conversation."""
    return replace(rates, kept=max(rates.kept, rates.scaled(tokens) - asked))


def _learned_input(rates: Rates, sent: Sent, input_tokens: int) -> Rates:
    """The largest call tells most of what a token costs, and what was added to a call that was counted; the rest is overhead."""
    steepest, context = rates.steepest, sent.context
    if context.real and context.added >= _TELLING_TOKENS:
        steepest = max(steepest, Fraction(input_tokens - context.anchored, context.added))
    calls = (*rates.calls, (sent.counted, input_tokens))
    ours, theirs = max(calls)
    a_token = min(max(Fraction(theirs, max(ours, 1)), steepest, Fraction(1)), Fraction(MOST_SHARE))
    overhead = max(0, *(theirs - ceil(a_token * ours) for ours, theirs in calls))
    return replace(rates, a_token=a_token, overhead=overhead, steepest=steepest, calls=calls)
