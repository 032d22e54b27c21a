"""No sequence of replies, sizes, usage reports and failures makes a run exceed a limit, go on for ever or lose a counted token.

The state space: both protocols; with and without strict repair; five limits from too small for one turn to ample; replies
that search, repeat, scan, end in each way, say nothing usable, call in parallel or malformed, and fill the output limit;
usage that is missing, zero, low, honest, high, beyond belief, negative; hidden reasoning counted or not; five kinds of
failure, with and without retry, half a reply, a waiting time and the provider's own window; results of no to nine blocks
and up to 50,000 tokens, retryable or cut off; time that stands, runs and jumps.
"""

from collections.abc import Callable
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.agent import budget
from api.agent.brakes import Brake, deadlines
from api.agent.budget import LimitCode
from api.agent.ending import Steps
from api.agent.finish import finish
from api.agent.state import State
from api.agent.steps import AskFailed, AskModel, Broken, CallTool, Event, Replied
from api.agent.strict import repairing
from shared.errors import UpstreamCode
from shared.llm.port import ChatUsage, FunctionCall
from shared.types.events import TurnStarted
from shared.types.runs import Limits, ProtocolName, Usage
from tests.promises import promise
from tests.unit.agent.playing import (
    DOC,
    PLAIN,
    Scripted,
    block,
    count,
    fails,
    play,
    result,
    returns,
    says,
    search,
)

REASONS = {
    "finished", "refused", "clarification", "protocol_error", "finalization_failed", "unsupported",
    *get_args(Brake), *get_args(LimitCode), *get_args(UpstreamCode),
}  # fmt: skip
TOO_LARGE = {"provider_context_too_long", *get_args(LimitCode)}  # no run fails of these with evidence in hand
LIMITS = st.builds(
    Limits,
    max_context_tokens=st.sampled_from([1_000, 6_000, 20_000]),
    max_request_tokens=st.sampled_from([1_000, 12_000, 30_000, 100_000]),
    max_tool_calls=st.integers(0, 6),
    finalization_reserve_tokens=st.sampled_from([0, 100, 1_500, 4_000]),
    max_wall_seconds=st.integers(1, 100),
)
CITED = f"五天【来源：{DOC}.v1#0】"
TEXTS = (
    "", "五天。", "Action: web_search[{}]", "Action: search_blocks[{", search("甲"), search("乙"), search("丙"), search("丁"),
    'Action: scan_term[{"term": "年假"}]', f"Action: Finish[{CITED}]", f"Action: Finish[九天【来源：{DOC}.v1#1】]", "Action: Refuse[没有]",
    "Action: Clarify[哪一年？]", "好" * 2_000, CITED, "<think>想", 'Action: search_blocks[{"query": "a"}]\nAction: Finish[b]',
)  # fmt: skip
MOSTLY_SEARCHES = st.one_of(st.sampled_from(TEXTS), st.integers(0, 99).map(lambda n: search(f"问{n}")))
ONE_CALL = st.one_of(
    st.integers(0, 99).map(lambda n: ("search_blocks", f'{{"query": "问{n}"}}')),
    st.sampled_from([("scan_term", '{"term": "年假"}'), ("web_search", "{}"), ("refuse", '{"reason": "没有"}'), ("clarify", '{"question": "何时？"}'), ("search_blocks", '{"query": ')]),
)  # fmt: skip
CODES = st.sampled_from(
    ["provider_timeout", "provider_auth", "provider_context_too_long", "provider_interrupted", "time"]
)


class Player:
    """A provider that keeps to the output limit; all else is chance."""

    def __init__(self, data: st.DataObject, limits: Limits, protocol: ProtocolName = "react") -> None:
        self.data = data
        self.protocol: ProtocolName = protocol
        self.elapsed_ms = 0
        self.expected = Usage()
        self.limits = limits
        self.shown: set[str] = set()

    def __call__(self, effect: AskModel | CallTool) -> Event:
        times = deadlines(self.limits)
        final = isinstance(effect, AskModel) and effect.final
        assert effect.until_ms == (times.run_ms if final else times.tools_ms)
        assert self.elapsed_ms < effect.until_ms or isinstance(
            effect, CallTool
        )  # a call into the past is cut off at once
        self.elapsed_ms += self.data.draw(st.sampled_from([0, 0, 10, 5_000]))
        return self.call() if isinstance(effect, CallTool) else self.ask(effect)

    def call(self) -> Event:
        if self.data.draw(st.integers(0, 9)) == 0:
            return returns(None, elapsed_ms=self.elapsed_ms)
        blocks = [block(index) for index in self.data.draw(st.lists(st.integers(0, 8), max_size=9, unique=True))]
        self.shown |= {one.block_id for one in blocks}
        filler = self.data.draw(st.sampled_from([0, 10, 1_000, 5_000, 50_000]))
        tokens = self.data.draw(st.integers(0, 5))
        self.expect(embedding_tokens=tokens, tool_calls=0)
        found = result(*blocks, filler=filler, retryable=self.data.draw(st.booleans()), embedding_tokens=tokens)
        return returns(found, elapsed_ms=self.elapsed_ms)

    def ask(self, ask: AskModel) -> Event:
        assert ask.input_tokens <= self.limits.max_context_tokens
        spent = self.expected.chat_input_tokens + self.expected.chat_output_tokens
        assert spent + ask.input_tokens + ask.max_output_tokens <= self.limits.max_request_tokens
        text = self.data.draw(MOSTLY_SEARCHES)
        calls: list[FunctionCall] = []
        if self.protocol == "tools" and self.data.draw(st.integers(0, 3)):
            text = self.data.draw(st.sampled_from(["", "先查。"]))
            drawn = self.data.draw(st.lists(ONE_CALL, min_size=1, max_size=2))
            calls = [FunctionCall(call_id=f"c{n}", name=name, arguments=given) for n, (name, given) in enumerate(drawn)]
        text = text[: ask.max_output_tokens]
        if self.data.draw(st.integers(0, 4)) == 0:
            return self.fail(ask, text)
        return self.reply(ask, text, tuple(calls))

    def fail(self, ask: AskModel, text: str) -> AskFailed:
        self.expect(chat_input_tokens=ask.input_tokens, chat_output_tokens=len(text), model_calls=1, estimated=True)
        return fails(
            self.data.draw(CODES),
            retryable=self.data.draw(st.booleans()),
            retry_after_s=self.data.draw(st.sampled_from([None, 0.0, 1.0, 10_000.0])),
            window_tokens=self.data.draw(st.sampled_from([None, None, 100, 4_096, 10**6])),
            heard=text,
            elapsed_ms=self.elapsed_ms,
        )

    def reply(self, ask: AskModel, text: str, calls: tuple[FunctionCall, ...]) -> Replied:
        sent, received = ask.input_tokens, len(text) + sum(len(call.name + call.arguments) for call in calls)
        reasoning = "想" * min(self.data.draw(st.sampled_from([0, 0, 40])), ask.max_output_tokens - received)
        assert received + len(reasoning) <= ask.max_output_tokens
        received += len(reasoning)
        told_input = self.data.draw(st.sampled_from([None, 0, -1, sent // 2, sent, sent, 10**15]))
        told_output = self.data.draw(st.sampled_from([0, received, received, 10**15]))
        usage = None if told_input is None else ChatUsage(input_tokens=told_input, output_tokens=told_output)
        believed = usage is not None and (told_output == received or (told_output == 0 and received == 0))
        known = told_input in (sent // 2, sent) and told_input != 0
        self.expect(
            chat_input_tokens=told_input if known and told_input else sent,
            chat_output_tokens=received,
            reasoning_tokens=len(reasoning),
            model_calls=1,
            estimated=not (known and believed),
        )
        return says(
            text,
            reasoning=reasoning,
            calls=calls,
            wants_reasoning=self.data.draw(st.booleans()),
            usage=usage,
            finish_reason=self.data.draw(st.sampled_from(["stop", "tool_calls", "length"])),
            elapsed_ms=self.elapsed_ms,
        )

    def expect(self, *, estimated: bool = False, **more: int) -> None:
        grown = {name: getattr(self.expected, name) + number for name, number in more.items()}
        self.expected = msgspec.structs.replace(self.expected, **grown, estimated=self.expected.estimated or estimated)


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
    played = play(player, limits=limits, protocol=protocol, around=around)
    outcome, spent = played.outcome, played.outcome.spent

    assert len(played.asked) <= 2 * (3 * limits.max_tool_calls + 5)
    assert spent.tool_calls <= limits.max_tool_calls
    assert spent.chat_input_tokens + spent.chat_output_tokens <= limits.max_request_tokens
    assert spent == msgspec.structs.replace(player.expected, tool_calls=spent.tool_calls)
    assert spent.model_calls == len(played.asked)
    assert {entry.block_id for entry in outcome.ledger.entries} <= player.shown
    assert [ask.final for ask in played.asked] == sorted(ask.final for ask in played.asked)
    assert all(one.name in ("refuse", "clarify") for ask in played.asked if ask.final for one in ask.functions)
    turns = [note.turn for note in played.notes if isinstance(note, TurnStarted)]
    assert turns == list(range(1, outcome.turns + 1))
    assert outcome.reason not in TOO_LARGE or not isinstance(outcome.ending, Broken) or not outcome.ledger.blocks
    verified = finish(outcome, wording=PLAIN)
    assert verified.status in {"complete", "partial", "refused", "clarification", "failed"}
    assert verified.reason in REASONS
    assert verified.text.strip()
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
    sent=st.integers(0, 10**6),
    received=st.integers(0, 10**5),
    asked=st.integers(64, 4_000),
)
def test_a_usage_report_books_at_least_something_and_never_more_than_could_be(
    told: int, sent: int, received: int, asked: int
) -> None:
    usage = ChatUsage(input_tokens=told, output_tokens=told, reasoning_tokens=abs(told))
    spent = budget.charged(Usage(), sent_tokens=sent, reply_tokens=received, asked_tokens=asked, usage=usage)
    assert 0 <= spent.reasoning_tokens <= spent.chat_output_tokens <= 4 * max(received, asked) + 40_000
    assert 0 <= spent.chat_input_tokens <= 4 * sent + 20_000
    assert spent.chat_input_tokens > 0 or sent == 0
