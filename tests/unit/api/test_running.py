"""What the asker of a run is told together, and that neither its end nor his going away waits for anything."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

import pytest

from api.running import AskerGone, Running, unless_gone
from shared.access import OWNER
from shared.ids import RunId, SnapshotId
from shared.types.events import AnswerDelta, RunCompleted, RunEvent, RunStarted
from shared.types.runs import RunRecord
from tests.patience import PATIENCE_S
from tests.unit.telemetry.factories import a_record

T = TypeVar("T")
Work = Callable[[Running], Awaitable[None]]

FOR_EVER_S = 3_600.0
RUN = RunId("run_1")
RECORD: RunRecord = a_record(run_id=RUN, question="年假几天？")
STARTED = RunStarted(run_id=RUN, snapshot_id=SnapshotId("snap_1"))
DELTAS = [AnswerDelta(text=piece) for piece in ("每人每天 ", "300 元。", "[1]")]
COMPLETED = RunCompleted(answer=RECORD.answer)


def bounded(scenario: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(scenario, PATIENCE_S))


def begun(work: Work, *, together_s: float) -> Running:
    run = Running(RUN, OWNER, words=lambda code, error_id: f"{code}, {error_id}", together_s=together_s)

    async def whole() -> RunRecord:
        await work(run)
        return RECORD

    run.start(whole)
    return run


def test_what_follows_soon_is_told_together_and_the_end_waits_for_nothing() -> None:
    async def step_by_step(run: Running) -> None:
        for event in (STARTED, *DELTAS, COMPLETED):
            run.emit(event)
            await asyncio.sleep(0)

    async def scenario() -> list[RunEvent]:
        return await begun(step_by_step, together_s=FOR_EVER_S).news(idle_s=FOR_EVER_S)

    assert bounded(scenario()) == [STARTED, *DELTAS, COMPLETED]


def test_what_does_not_follow_soon_is_not_waited_for_and_a_silent_run_is_told_as_nothing() -> None:
    async def scenario() -> list[list[RunEvent]]:
        goes_on = asyncio.Event()

        async def in_two_goes(run: Running) -> None:
            run.emit(STARTED)
            await goes_on.wait()
            run.emit(COMPLETED)

        run = begun(in_two_goes, together_s=0.0)
        told = [await run.news(idle_s=FOR_EVER_S), await run.news(idle_s=0.0)]
        goes_on.set()
        return [*told, await run.news(idle_s=FOR_EVER_S)]

    assert bounded(scenario()) == [[STARTED], [], [COMPLETED]]


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "later"])
def test_an_end_is_told_before_its_record_is_kept_and_as_the_last_word_when_it_is(at_once: bool) -> None:
    async def scenario() -> tuple[list[RunEvent], bool]:
        kept = asyncio.Event()

        async def end(run: Running) -> None:
            run.emit(COMPLETED)
            if not at_once:
                await kept.wait()

        run = begun(end, together_s=FOR_EVER_S)
        told, all_told = await run.news(idle_s=FOR_EVER_S), run.all_told
        kept.set()
        assert await run.record() == RECORD
        return told, all_told

    assert bounded(scenario()) == ([COMPLETED], at_once)


def test_a_run_that_is_over_has_nothing_left_to_tell() -> None:
    async def end(run: Running) -> None:
        run.emit(COMPLETED)

    async def scenario() -> list[list[RunEvent]]:
        run = begun(end, together_s=FOR_EVER_S)
        return [await run.news(idle_s=FOR_EVER_S), await run.news(idle_s=FOR_EVER_S)]

    assert bounded(scenario()) == [[COMPLETED], []]


async def stays() -> Mapping[str, Any]:
    """`receive` of an asker who is there."""
    await asyncio.Event().wait()
    raise AssertionError("never reached")


class Leaves:
    """`receive` of an asker who goes away when he is told to."""

    def __init__(self) -> None:
        self.now = asyncio.Event()

    async def __call__(self) -> Mapping[str, Any]:
        await self.now.wait()
        return {"type": "http.disconnect"}


def test_work_for_an_asker_who_stays_is_done_and_its_errors_are_its_own() -> None:
    async def works() -> str:
        await asyncio.sleep(0)
        return "五天"

    async def fails() -> str:
        raise KeyError("五天")

    assert bounded(unless_gone(stays, works())) == "五天"
    with pytest.raises(KeyError):
        bounded(unless_gone(stays, fails()))


def test_work_for_an_asker_who_goes_away_is_cancelled_where_it_is_and_nothing_else_is() -> None:
    async def scenario() -> list[str]:
        leaves, seen = Leaves(), list[str]()

        async def works() -> None:
            leaves.now.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        with pytest.raises(AskerGone):
            await unless_gone(leaves, works())
        await asyncio.sleep(0)  # would raise, were the task itself still to be cancelled
        return seen

    assert bounded(scenario()) == ["cancelled"]


def test_an_asker_who_goes_away_as_the_work_ends_cancels_nothing_that_comes_after_it() -> None:
    async def scenario() -> tuple[str, int]:
        leaves, done = Leaves(), asyncio.get_running_loop().create_future()

        async def whole() -> tuple[str, int]:
            answer = await unless_gone(leaves, done)
            await asyncio.sleep(0)  # the last piece goes out: raises, were the task itself still to be cancelled
            await asyncio.sleep(0)
            return answer, mine.cancelling()

        mine = asyncio.ensure_future(whole())
        for _ in range(3):
            await asyncio.sleep(0)
        leaves.now.set()
        done.set_result("五天")
        return await mine

    assert bounded(scenario()) == ("五天", 0)


def test_a_cancel_from_outside_stays_one_beside_an_asker_who_goes_away() -> None:
    async def scenario() -> None:
        leaves = Leaves()
        task = asyncio.ensure_future(unless_gone(leaves, asyncio.Event().wait()))
        for _ in range(3):
            await asyncio.sleep(0)
        leaves.now.set()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    bounded(scenario())


def test_a_cancel_from_outside_stays_one() -> None:
    async def scenario() -> None:
        task = asyncio.ensure_future(unless_gone(stays, asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    bounded(scenario())
