"""No sequence of replies, sizes, usage reports and failures makes a run exceed a limit, go on for ever or lose a counted token.

The state space: both protocols; with and without strict repair; five limits from too small for one turn to ample; replies
that search, repeat, scan, end in each way, say nothing usable, call in parallel or malformed, and fill the output limit;
usage that is true for a provider that counts 1 to 4 tokens for each of ours and a model that thinks in secret, within its
allowance or beside it, or missing now and then, or zero, low, high, beyond belief, negative; visible reasoning; five kinds of
failure, with and without retry, half a reply, a waiting time and the provider's own window; results of no to nine blocks
and up to 50,000 tokens, retryable or cut off; time that stands, runs and jumps.

The bound on what is spent: each call is made only if it and, before the last one, a last one can be paid for at the rates that
calls have shown. So a run exceeds its limit at most by what its last call cost above them. An honest provider's calls do so
only until its figures are told for the first time.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.agent.brakes import Brake
from api.agent.budget import LimitCode
from api.agent.ending import Steps
from api.agent.metering import Context, Heard, Rates, Sent, anchored, believed, charged, grown, learned
from api.agent.state import State
from api.agent.strict import repairing
from api.agent.wordless import wordless
from shared.errors import UpstreamCode
from shared.llm.port import ChatUsage
from shared.types.events import TurnStarted
from shared.types.runs import Limits, ProtocolName, Usage
from tests.promises import promise
from tests.property.agent.providers import LIMITS, Player
from tests.unit.agent.finished import finish
from tests.unit.agent.playing import PLAIN, Scripted, block, count, play, result, search

REASONS = {
    "finished", "refused", "clarification", "protocol_error", "finalization_failed", "reply_cut", "reasoning_cut", "unsupported",
    *get_args(Brake), *get_args(LimitCode), *get_args(UpstreamCode),
}  # fmt: skip


def plainly(steps: Steps, _: State) -> Steps:
    return steps


@promise("P4")
@pytest.mark.parametrize("around", [plainly, repairing], ids=["plain", "strict"])
@pytest.mark.parametrize("protocol", get_args(ProtocolName))
@settings(max_examples=250, deadline=None)
@given(data=st.data(), limits=LIMITS)
def test_every_run_ends_once_within_its_limits_and_pays_for_every_token(
    data: st.DataObject, limits: Limits, protocol: ProtocolName, around: Callable[[Steps, State], Steps]
) -> None:
    player = Player(data, limits, protocol)

    def watched(steps: Steps, state: State) -> Steps:
        return player.watching(around(steps, state), state)

    played = play(player, limits=limits, protocol=protocol, around=watched)
    outcome, spent = played.outcome, played.outcome.spent

    assert len(played.asked) <= 2 * (3 * limits.max_tool_calls + 5)
    assert spent.tool_calls <= limits.max_tool_calls
    player.check(played)
    assert {entry.block_id for entry in outcome.ledger.entries} <= player.shown
    assert [ask.final for ask in played.asked] == sorted(ask.final for ask in played.asked)
    assert all(one.name in ("refuse", "clarify") for ask in played.asked if ask.final for one in ask.functions)
    turns = [note.turn for note in played.notes if isinstance(note, TurnStarted)]
    assert turns == list(range(1, outcome.turns + 1))
    verified = finish(outcome, wording=PLAIN)
    assert verified.status in {"complete", "partial", "refused", "clarification", "failed"}
    assert verified.reason in REASONS
    assert not wordless(verified.text, signs=False)
    assert {citation.block_id for citation in verified.citations} <= set(outcome.ledger.blocks)
    if outcome.closed is not None:
        assert verified.status != "complete"
        assert verified.limitations


@given(texts=st.lists(st.text(min_size=1, max_size=40), max_size=6))
def test_a_message_costs_what_the_tokenizer_says_of_exactly_its_text(texts: list[str]) -> None:
    script: list[Scripted] = []
    for index, text in enumerate(texts):
        script += [search(f"{index}"), result(block(index, text))]
    played = play([*script, "Action: Finish[好]"], limits=Limits(max_tool_calls=9))
    last = played.asked[-1]
    assert last.input_tokens == sum(count(message.content) + 5 for message in last.messages)


@given(
    told=st.integers(-10, 10**18),
    counted=st.integers(1, 10**6),
    heard=st.integers(0, 10**5),
    asked=st.integers(64, 4_000),
)
def test_a_usage_report_books_at_least_something_and_never_more_than_could_be(
    told: int, counted: int, heard: int, asked: int
) -> None:
    usage = ChatUsage(input_tokens=told, output_tokens=told, reasoning_tokens=abs(told))
    sent = Sent(context=Context(added=counted), tokens=counted, counted=counted, asked=asked)
    reply = Heard(tokens=heard)
    said = believed(usage, sent, reply)
    spent = charged(Usage(), sent, reply, said, Rates())
    assert 0 <= spent.reasoning_tokens <= spent.chat_output_tokens <= 4 * max(heard, asked) + 40_000
    assert 0 <= spent.chat_input_tokens <= 4 * counted + 20_000
    assert spent.chat_input_tokens > 0
    rates = learned(Rates(), sent, reply, said, whole=True)
    assert 1 <= rates.a_token <= 4
    assert Context(added=counted).tokens(rates) >= (said.input_tokens or counted)


@given(
    a_token=st.fractions(1, 4, max_denominator=50),
    sizes=st.lists(st.integers(0, 5_000), min_size=2, max_size=6),
)
def test_once_a_provider_has_said_how_it_counts_the_next_call_is_never_larger_than_expected(
    a_token: Fraction, sizes: list[int]
) -> None:
    """Of one conversation, and of another beside it."""
    rates, context, counted = Rates(), Context(), 0
    for place, size in enumerate(sizes):
        context, counted = grown(context, size + 1), counted + size + 1
        theirs = ceil(a_token * counted)
        sent = Sent(context=context, tokens=context.tokens(rates), counted=counted, asked=64)
        assert place == 0 or theirs <= sent.tokens
        assert place == 0 or ceil(a_token * size) <= Context(added=size).tokens(rates)
        said = believed(ChatUsage(input_tokens=theirs, output_tokens=9), sent, Heard(tokens=9))
        rates = learned(rates, sent, Heard(tokens=9), said, whole=True)
        context = anchored(context, said.input_tokens)
