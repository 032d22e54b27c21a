import asyncio
import threading

import pytest

from api.agent.drive import Driver, Stopwatch, drive
from api.agent.ending import Steps
from api.agent.loop import run
from api.agent.state import State
from api.agent.steps import AskModel, Event, Outcome, Replied
from api.tools.contract import ToolResult
from tests.unit.agent.playing import NOW_MS, PLAIN, block, count, result, search, start


class Answers:
    """A search, then an answer to it."""

    def __init__(self) -> None:
        self._texts = iter([search("年假"), "Action: Finish[五天。]"])

    async def reply(self, ask: AskModel) -> Replied:
        text = next(self._texts)
        return Replied(text=text, reasoning="", usage=None, finish_reason="stop", metered=True, elapsed_ms=1)


class Finds:
    async def call(self, name: str, arguments: object) -> ToolResult:
        return result(block(1))


def noting(steps: Steps, aside: set[str]) -> Steps:
    """`aside`: after which events the loop was taken on elsewhere than in the main thread."""
    event: Event | None = None
    while True:
        if threading.current_thread() is not threading.main_thread():
            aside.add(type(event).__name__)
        try:
            effect = steps.send(event)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        event = yield effect


@pytest.mark.parametrize(("checking", "expected"), [(True, {"Replied"}), (False, set[str]())])
def test_what_checks_claims_after_a_reply_does_not_hold_up_the_event_loop(checking: bool, expected: set[str]) -> None:
    aside = set[str]()
    driver = Driver(
        answerer=Answers(),
        tools=Finds(),
        count=count,
        emit=lambda _: None,
        called=lambda _: None,
        watch=Stopwatch(),
        now_ms=lambda: NOW_MS,
        checking=checking,
    )
    outcome = asyncio.run(drive(noting(run(State(start(), wording=PLAIN, count=count)), aside), driver))
    assert outcome.reason == "finished"
    assert aside == expected
