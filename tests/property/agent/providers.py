"""Providers of all sorts, by chance: how they count, what their models think in secret, what they say of it, how they fail."""

from typing import Literal, get_args

import msgspec
from hypothesis import strategies as st

from api.agent.brakes import deadlines
from api.agent.budget import CLOSING_TOKENS, MIN_REPLY_TOKENS, LimitCode, chat_tokens
from api.agent.ending import Steps
from api.agent.state import State
from api.agent.steps import AskFailed, AskModel, Broken, CallTool, Event, Replied
from shared.llm.port import ChatUsage, FunctionCall
from shared.types.events import ToolResulted
from shared.types.runs import Limits, ProtocolName, Usage
from tests.unit.agent.playing import DOC, Played, block, fails, result, returns, says, search

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
    "Action: Clarify[哪一年？]", "好" * 2_000, CITED, "<think>想", "Action: Finish[……]", 'Action: search_blocks[{"query": "a"}]\nAction: Finish[b]',
)  # fmt: skip
MOSTLY_SEARCHES = st.one_of(st.sampled_from(TEXTS), st.integers(0, 99).map(lambda n: search(f"问{n}")))
ONE_CALL = st.one_of(
    st.integers(0, 99).map(lambda n: ("search_blocks", f'{{"query": "问{n}"}}')),
    st.sampled_from([("scan_term", '{"term": "年假"}'), ("web_search", "{}"), ("refuse", '{"reason": "没有"}'), ("clarify", '{"question": "何时？"}'), ("search_blocks", '{"query": ')]),
)  # fmt: skip
CODES = st.sampled_from(
    ["provider_timeout", "provider_auth", "provider_context_too_long", "provider_interrupted", "time"]
)
TOO_LARGE = {"provider_context_too_long", *get_args(LimitCode)}  # no run fails of these with evidence in hand
Kind = Literal["honest", "garbled"]


class Player:
    """A provider that keeps to the output limit in what it shows; all else is chance, and every call is checked against the limits.

    Honest: it counts 1 to 4 tokens for each of ours, its model thinks as much in every call, within its allowance or beside it, and its
    figures are true where it gives any. Garbled: its figures are anything. `extra`: what its text may be beside the usual.
    """

    def __init__(
        self, data: st.DataObject, limits: Limits, protocol: ProtocolName = "react", *, extra: tuple[str, ...] = ()
    ) -> None:
        self.data = data
        self.limits = limits
        self.protocol: ProtocolName = protocol
        self.elapsed_ms = 0
        self.shown: set[str] = set()
        self.kind: Kind = data.draw(st.sampled_from(["honest", "garbled"]))
        self.a_token = data.draw(st.one_of(st.just(1), st.fractions(1, 4, max_denominator=9)))
        self.thinks = data.draw(st.sampled_from([0, 0, 300, 9_000]))
        self.beside = data.draw(st.booleans())  # its thinking is not limited by the output limit
        self.silent = data.draw(st.sampled_from([0, 0, 3]))  # of ten replies, those without figures
        self.texts = st.one_of(MOSTLY_SEARCHES, st.sampled_from(extra)) if extra else MOSTLY_SEARCHES
        self.failed = False  # a call has
        self.booked = Usage()  # what must have been booked; of estimated output, the least
        self.unsure = 0  # output that may have been booked beside that
        self.beyond = 0
        self.counted = False  # its figures have been told
        self.revealed_before_evidence = False
        self.excess = 0  # what the last call cost above all that calls had shown before
        self.calls = 0
        self._state: State | None = None

    @property
    def revealed(self) -> bool:
        """Whether all is known of an honest one: how it counts, and if its model thinks beside its allowance, how much."""
        return self.counted and bool(self.beyond or not self.beside or not self.thinks)

    def watching(self, steps: Steps, state: State) -> Steps:
        self._state = state
        return steps

    @property
    def state(self) -> State:
        assert self._state is not None
        return self._state

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
        if not self.shown and blocks:
            self.revealed_before_evidence = self.revealed
        self.shown |= {one.block_id for one in blocks}
        filler = self.data.draw(st.sampled_from([0, 10, 1_000, 5_000, 50_000]))
        tokens = self.data.draw(st.integers(0, 5))
        self.book(embedding_tokens=tokens)
        found = result(*blocks, filler=filler, retryable=self.data.draw(st.booleans()), embedding_tokens=tokens)
        return returns(found, elapsed_ms=self.elapsed_ms)

    def ask(self, ask: AskModel) -> Event:
        self.calls += 1
        expected = ask.input_tokens + ask.max_output_tokens + self.beyond
        assert ask.max_output_tokens > 0
        assert ask.input_tokens <= self.limits.max_context_tokens
        assert chat_tokens(self.state.spent) + expected <= self.limits.max_request_tokens
        text = self.data.draw(self.texts)
        calls: list[FunctionCall] = []
        if self.protocol == "tools" and self.data.draw(st.integers(0, 3)):
            text = self.data.draw(st.sampled_from(["", "先查。"]))
            drawn = self.data.draw(st.lists(ONE_CALL, min_size=1, max_size=2))
            calls = [FunctionCall(call_id=f"c{n}", name=name, arguments=given) for n, (name, given) in enumerate(drawn)]
        text = text[: ask.max_output_tokens]
        if sum(len(call.name + call.arguments) for call in calls) + len(text) > ask.max_output_tokens:
            text, calls = "", []
        if self.data.draw(st.integers(0, 4)) == 0:
            return self.fail(ask, text)
        return self.reply(ask, text, tuple(calls), expected=expected)

    def fail(self, ask: AskModel, text: str) -> AskFailed:
        self.failed = True
        self.book(chat_input_tokens=ask.input_tokens, model_calls=1, estimated=True)
        self.book_estimate(ask, len(text))
        self.excess = 0
        return fails(
            self.data.draw(CODES),
            retryable=self.data.draw(st.booleans()),
            retry_after_s=self.data.draw(st.sampled_from([None, 0.0, 1.0, 10_000.0])),
            window_tokens=self.data.draw(st.sampled_from([None, None, 100, 4_096, 10**6])),
            heard=text,
            elapsed_ms=self.elapsed_ms,
        )

    def reply(self, ask: AskModel, text: str, calls: tuple[FunctionCall, ...], *, expected: int) -> Replied:
        heard = len(text) + sum(len(call.name + call.arguments) for call in calls)
        reasoning = "想" * min(self.data.draw(st.sampled_from([0, 0, 40])), ask.max_output_tokens - heard)
        heard += len(reasoning)
        usage, revealed = self.usage(ask, heard), self.revealed
        counted = self.state.talk.counted
        told_input = usage is not None and 0 < usage.input_tokens <= 4 * counted + 20_000
        told_output = usage is not None and (
            heard == 0 if usage.output_tokens == 0 else 0 < usage.output_tokens <= 4 * max(heard, ask.max_output_tokens) + 40_000
        )  # fmt: skip
        sent = usage.input_tokens if usage is not None and told_input else ask.input_tokens
        self.book(chat_input_tokens=sent, model_calls=1, estimated=not (told_input and told_output))
        if usage is not None and told_output:
            self.book(chat_output_tokens=usage.output_tokens)
            self.excess = max(0, sent + usage.output_tokens - expected)
            if usage.output_tokens > ask.max_output_tokens:
                self.beyond = max(self.beyond, usage.output_tokens - (heard - len(reasoning)))
        else:
            self.book_estimate(ask, heard)
            self.excess = max(0, sent + ask.max_output_tokens + self.beyond - expected)
        if self.kind == "honest" and self.counted:
            assert sent <= ask.input_tokens
            assert self.excess == 0 or not revealed
        self.counted = self.counted or usage is not None
        return says(
            text,
            reasoning=reasoning,
            calls=calls,
            wants_reasoning=self.data.draw(st.booleans()),
            usage=usage,
            finish_reason=self.data.draw(st.sampled_from(["stop", "tool_calls", "length"])),
            elapsed_ms=self.elapsed_ms,
        )

    def usage(self, ask: AskModel, heard: int) -> ChatUsage | None:
        if self.kind == "garbled":
            sent = ask.input_tokens
            told_input = self.data.draw(st.sampled_from([None, 0, -1, sent // 2, sent, 3 * sent, 10**15]))
            told_output = self.data.draw(st.sampled_from([0, heard, heard + 9_000, 10**15]))
            return None if told_input is None else ChatUsage(input_tokens=told_input, output_tokens=told_output)
        if self.data.draw(st.integers(0, 9)) < self.silent:
            return None
        thought = self.thinks if self.beside else min(self.thinks, ask.max_output_tokens - heard)
        counted = -(-self.state.talk.counted * self.a_token // 1)
        return ChatUsage(input_tokens=int(counted), output_tokens=heard + thought, reasoning_tokens=thought)

    def book_estimate(self, ask: AskModel, heard: int) -> None:
        self.book(chat_output_tokens=heard)
        self.unsure += ask.max_output_tokens + self.beyond - heard

    def book(self, *, estimated: bool = False, **more: int) -> None:
        grown = {name: getattr(self.booked, name) + number for name, number in more.items()}
        self.booked = msgspec.structs.replace(self.booked, **grown, estimated=self.booked.estimated or estimated)

    def check(self, played: Played) -> None:
        """What a run booked, at its end: every token, and above its limit no more than its last call revealed.

        What it has found doesn't fail for want of an answer, as far as the run could know what one costs.
        """
        outcome, spent, booked = played.outcome, played.outcome.spent, self.booked
        assert booked.chat_output_tokens <= spent.chat_output_tokens <= booked.chat_output_tokens + self.unsure
        same = {"chat_output_tokens": 0, "reasoning_tokens": 0, "tool_calls": 0}
        assert msgspec.structs.replace(spent, **same) == msgspec.structs.replace(booked, **same)
        assert chat_tokens(spent) <= self.limits.max_request_tokens + self.excess
        assert spent.model_calls == self.calls
        too_large = isinstance(outcome.ending, Broken) and outcome.ending.code in TOO_LARGE
        assert not (too_large and outcome.ledger.blocks)
        kept_back = self.limits.finalization_reserve_tokens >= CLOSING_TOKENS + MIN_REPLY_TOKENS
        if self.kind == "honest" and self.revealed_before_evidence and kept_back and not self.failed:
            told = [note for note in played.notes if isinstance(note, ToolResulted)]
            let_in = {note.turn for note in told if note.admitted and note.blocks}
            assert not let_in & {note.turn for note in told if not note.admitted}
            assert not (let_in and too_large)
