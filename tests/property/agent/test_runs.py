"""No sequence of replies, sizes and failures makes a run exceed a limit, go on for ever or lose a counted token."""

from hypothesis import given, settings
from hypothesis import strategies as st

from api.agent.brakes import deadlines
from api.agent.finish import finish
from api.agent.steps import AskFailed, AskModel, CallTool, Event, Replied
from shared.llm.port import ChatUsage
from shared.types.runs import Limits, Usage
from tests.promises import promise
from tests.unit.agent.playing import (
    DOC,
    PlainWording,
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

LIMITS = st.builds(
    Limits,
    max_context_tokens=st.sampled_from([1_000, 6_000, 20_000]),
    max_request_tokens=st.sampled_from([1_000, 12_000, 30_000, 100_000]),
    max_tool_calls=st.integers(0, 6),
    finalization_reserve_tokens=st.sampled_from([0, 100, 1_500, 4_000]),
    max_wall_seconds=st.integers(1, 100),
)
TEXTS = (
    "", "五天。", "Action: web_search[{}]", "Action: search_blocks[{", search("甲"), search("乙"), search("丙"), search("丁"),
    'Action: scan_term[{"term": "年假"}]', f"Action: Finish[五天【来源：{DOC}.v1#0】]", "Action: Refuse[没有]", "好" * 2_000,
    'Action: search_blocks[{"query": "a"}]\nAction: Finish[b]',
)  # fmt: skip
MOSTLY_SEARCHES = st.one_of(st.sampled_from(TEXTS), st.integers(0, 99).map(lambda n: search(f"问{n}")))
CODES = st.sampled_from(["provider_timeout", "provider_auth", "provider_context_too_long", "time"])


class Player:
    """A provider that keeps to the output limit and never counts more input than was estimated; all else is chance."""

    def __init__(self, data: st.DataObject, limits: Limits) -> None:
        self.data = data
        self.elapsed_ms = 0
        self.expected = Usage()
        self.limits = limits
        self.shown: set[str] = set()

    def __call__(self, effect: AskModel | CallTool) -> Event:
        assert effect.until_ms > self.elapsed_ms or effect.until_ms == deadlines(self.limits).tools_ms
        self.elapsed_ms += self.data.draw(st.sampled_from([0, 0, 10, 5_000]))
        return self.call() if isinstance(effect, CallTool) else self.ask(effect)

    def call(self) -> Event:
        if self.data.draw(st.integers(0, 9)) == 0:
            return returns(None, elapsed_ms=self.elapsed_ms)
        blocks = [block(index) for index in self.data.draw(st.lists(st.integers(0, 8), max_size=5, unique=True))]
        self.shown |= {one.block_id for one in blocks}
        filler = self.data.draw(st.sampled_from([0, 10, 1_000, 5_000, 50_000]))
        found = result(*blocks, filler=filler, retryable=self.data.draw(st.booleans()), embedding_tokens=3)
        return returns(found, elapsed_ms=self.elapsed_ms)

    def ask(self, ask: AskModel) -> Event:
        assert ask.input_tokens <= self.limits.max_context_tokens
        text = self.data.draw(MOSTLY_SEARCHES)[: ask.max_output_tokens]
        event: Replied | AskFailed
        if self.data.draw(st.integers(0, 4)) == 0:
            retryable = self.data.draw(st.booleans())
            event = fails(self.data.draw(CODES), retryable=retryable, heard=text, elapsed_ms=self.elapsed_ms)
            self.expect(ask.input_tokens, len(text), estimated=True)
            return event
        told = self.data.draw(st.sampled_from([None, 0, ask.input_tokens // 2, ask.input_tokens]))
        usage = None if told is None else ChatUsage(input_tokens=told, output_tokens=len(text))
        self.expect(told or ask.input_tokens, len(text), estimated=not told)
        finish_reason = self.data.draw(st.sampled_from(["stop", "length"]))
        return says(text, usage=usage, finish_reason=finish_reason, elapsed_ms=self.elapsed_ms)

    def expect(self, sent: int, received: int, *, estimated: bool) -> None:
        before = self.expected
        self.expected = Usage(
            chat_input_tokens=before.chat_input_tokens + sent,
            chat_output_tokens=before.chat_output_tokens + received,
            model_calls=before.model_calls + 1,
            estimated=before.estimated or estimated,
        )


@promise("P4")
@settings(max_examples=300, deadline=None)
@given(data=st.data(), limits=LIMITS)
def test_every_run_ends_once_within_its_limits_and_pays_for_every_token(data: st.DataObject, limits: Limits) -> None:
    player = Player(data, limits)
    played = play(player, limits=limits)
    outcome, spent = played.outcome, played.outcome.spent

    assert len(played.asked) <= 2 * (2 * limits.max_tool_calls + 4)
    assert spent.tool_calls <= limits.max_tool_calls
    assert spent.chat_input_tokens + spent.chat_output_tokens <= limits.max_request_tokens
    assert (spent.chat_input_tokens, spent.chat_output_tokens, spent.model_calls, spent.estimated) == (
        player.expected.chat_input_tokens,
        player.expected.chat_output_tokens,
        player.expected.model_calls,
        player.expected.estimated,
    )
    assert spent.model_calls == len(played.asked)
    assert {entry.block_id for entry in outcome.ledger.entries} <= player.shown
    assert [ask.final for ask in played.asked] == sorted(ask.final for ask in played.asked)
    verified = finish(outcome, wording=PlainWording())
    assert verified.status in {"complete", "partial", "refused", "clarification", "failed"}
    assert verified.text.strip()
    assert {citation.block_id for citation in verified.citations} <= set(outcome.ledger.blocks)


@given(texts=st.lists(st.text(min_size=1, max_size=40), max_size=6))
def test_a_message_costs_what_the_tokenizer_says_of_exactly_its_text(texts: list[str]) -> None:
    script: list[Scripted] = []
    for index, text in enumerate(texts):
        script += [search(f"{index}"), result(block(index, text))]
    played = play([*script, "Action: Finish[好]"], limits=Limits(max_tool_calls=9))
    last = played.asked[-1]
    assert last.input_tokens == sum(count(message.content) + 5 for message in last.messages)
