"""Runs through the driver with a scripted model: whatever it says or how it fails, and wherever the run is cut off.

Every run ends once or is cut off once; every span that began has ended; what a cut-off run had spent is never forgotten.
"""

import asyncio
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from api.agent.drive import Driver, ModelAnswerer, Stopwatch, drive
from api.agent.loop import run
from api.agent.so_far import RunSoFar
from api.agent.state import State
from api.agent.steps import Outcome
from api.tools.contract import ToolResult
from shared.errors import UpstreamCode, UpstreamError
from shared.llm.port import ChatReply, ChatUsage, FunctionCall
from shared.llm.scripted import Line, ScriptedChat
from shared.types.events import RunEvent, TurnStarted
from shared.types.runs import Limits, ProtocolName, RecordedCall
from tests.contract.tools.world import recorded_spans
from tests.unit.agent.playing import DOC, NOW_MS, PLAIN, block, count, result, search, start

LIMITS = Limits(max_context_tokens=20_000, max_request_tokens=60_000, max_tool_calls=3)
CALL = FunctionCall(call_id="c1", name="search_blocks", arguments='{"query": "年假"}')


def reply(text: str, usage: ChatUsage | None, calls: tuple[FunctionCall, ...] = ()) -> ChatReply:
    return ChatReply(text=text, reasoning="", usage=usage, finish_reason="stop", model="m", calls=calls)


def fault(code: UpstreamCode, heard: str, window: int | None) -> UpstreamError:
    return UpstreamError(code, "told to fail", retry_after_s=0.0, partial_text=heard, window_tokens=window)


USAGES = st.sampled_from(
    [None, ChatUsage(input_tokens=900, output_tokens=9), ChatUsage(input_tokens=10**12, output_tokens=-1)]
)
TEXTS = st.sampled_from(
    ["", "好。", search("甲"), search("乙"), "Action: Refuse[没有]", f"Action: Finish[五天【来源：{DOC}.v1#0】]"]
)
LINES: st.SearchStrategy[Line] = st.one_of(
    st.builds(reply, TEXTS, USAGES),
    st.builds(reply, st.just(""), USAGES, st.just((CALL,))),
    st.builds(fault, st.sampled_from(get_args(UpstreamCode)), st.sampled_from(["", "半句"]), st.sampled_from([None, 8_192])),
)  # fmt: skip


class CountingTools:
    """Answers until it is told to stop the run: the asker goes away during call number `leaves_at`."""

    def __init__(self, leaves_at: int | None) -> None:
        self.leaves_at = leaves_at
        self.calls = 0

    async def call(self, name: str, arguments: object) -> ToolResult:
        self.calls += 1
        await asyncio.sleep(0)
        if self.calls == self.leaves_at:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)
        return result(block(self.calls), embedding_tokens=2)


@settings(max_examples=150, deadline=None)
@given(
    lines=st.lists(LINES, min_size=14, max_size=14),
    protocol=st.sampled_from(get_args(ProtocolName)),
    leaves_at=st.one_of(st.none(), st.integers(1, 3)),
)
def test_a_run_ends_once_or_is_cut_off_once_and_leaves_nothing_open(
    lines: list[Line], protocol: ProtocolName, leaves_at: int | None
) -> None:
    chat, tools, so_far = ScriptedChat(lines), CountingTools(leaves_at), RunSoFar()
    events: list[RunEvent] = []
    calls: list[RecordedCall] = []

    async def driven() -> Outcome | None:
        watch = Stopwatch()
        state = so_far.state = State(start(limits=LIMITS, protocol=protocol), wording=PLAIN, count=count)
        driver = Driver(
            answerer=ModelAnswerer(chat, watch, so_far=so_far, pause=lambda _: asyncio.sleep(0)),
            tools=tools,
            count=count,
            emit=events.append,
            called=calls.append,
            watch=watch,
            now_ms=lambda: NOW_MS,
        )
        try:
            return await drive(run(state), driver)
        except asyncio.CancelledError:
            return None

    with recorded_spans() as spans:
        outcome = asyncio.run(driven())

    spent = so_far.usage()
    assert spent.model_calls == len(chat.requests)
    turns = [event.turn for event in events if isinstance(event, TurnStarted)]
    assert turns == list(range(1, len(turns) + 1))
    assert [span.name for span in spans].count("turn") == len(turns)
    assert [span.name for span in spans].count("chat model") == len(chat.requests)
    assert all(span.end_time for span in spans)
    assert spent.chat_input_tokens + spent.chat_output_tokens <= LIMITS.max_request_tokens
    assert spent.tool_calls >= tools.calls
    if outcome is None:
        assert tools.calls == leaves_at
        assert spent.embedding_tokens == 2 * (tools.calls - 1)
    else:
        assert outcome.spent == spent
        assert spent.embedding_tokens == 2 * tools.calls
        assert outcome.turns == len(turns)
