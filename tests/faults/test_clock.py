"""The machine's clock is put forward or back in the middle of an import.

The clock is the workshop's, which the test turns; and that of real workers, see clocked.py.
"""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.catalog.snapshots import list_snapshots
from shared.embeddings.fake import FakeEmbedder
from shared.embeddings.port import Embedded
from shared.errors import UpstreamError
from shared.ids import ImportId
from shared.types.imports import Import
from tests.contract.worker.workshop import LEASE_MS, Killed, Workshop
from tests.faults.world import World
from tests.promises import promise
from worker.advance import advance

DAY_MS = 24 * 3600 * 1000
TEXT = "\n".join(f"# 第{n}节\n第{n}节的内容，独一无二。\nParagraph {n} is like no other." for n in range(4))
BATCH = 2


class Clockwork(FakeEmbedder):
    """Calls the next of `acts` after each batch was bought and before it is stored."""

    def __init__(self, *acts: Callable[[], None]) -> None:
        super().__init__(max_batch=BATCH)
        self._acts = list(acts)

    def embed_passages(self, texts: Sequence[str]) -> Embedded:
        bought = super().embed_passages(texts)
        if self._acts:
            self._acts.pop(0)()
        return bought


class Hands:
    """Workers that come one after another, by names of their own, on a clock that jumps."""

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop
        self.import_id: ImportId = shop.ask()
        self._numbers = count(1)

    def jump(self, ms: int) -> Callable[[], None]:
        def act() -> None:
            self.shop.now += ms

        return act

    def die(self) -> None:
        raise Killed

    def take_over(self) -> None:
        """A second worker, woken by the reconciler if the import seems to be nobody's."""
        if self.import_id in self.shop.wait_for_reconciler(ms=1):
            self.work()

    def work(self, embedder: FakeEmbedder | None = None) -> Import:
        parts = replace(self.shop.parts, embedder=embedder or self.shop.embedder)
        advance(self.import_id, parts, worker=f"工人-{next(self._numbers)}", stopping=self.shop.stopping)
        return self.shop.look(self.import_id)


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return Hands(stocked(tmp_path))


def stocked(folder: Path) -> Workshop:
    shop = Workshop(folder, embedder=FakeEmbedder(max_batch=BATCH))
    shop.write(a=TEXT, b="# 乙\n第二份文件。", c="#!broken")
    return shop


def check_as_ever(hands: Hands, bought: Sequence[str], *, batches: int) -> None:
    """One snapshot with everything; nothing bought again but what was under way."""
    shop = hands.shop
    done = shop.look(hands.import_id)
    assert (done.state, [gap.key for gap in done.failed_documents]) == ("completed", ["c.md"])
    assert (shop.members(), shop.active().state) == ({"a.md": 1, "b.md": 1}, "ready_partial")
    assert [one.snapshot_id for one in list_snapshots(shop.db)] == [done.snapshot_id]
    assert len(shop.indexed()) == shop.active().blocks == len(set(bought))
    assert len(bought) - len(set(bought)) <= batches * BATCH
    assert 0 <= done.progress.elapsed_ms <= 100 * LEASE_MS
    shop.close()


@promise("P9")
@pytest.mark.parametrize("ms", [DAY_MS, -DAY_MS, LEASE_MS, -LEASE_MS])
def test_a_worker_alone_does_not_notice_that_the_clock_jumps(hands: Hands, ms: int) -> None:
    embedder = Clockwork(hands.jump(ms))
    assert hands.work(embedder).state == "completed"
    check_as_ever(hands, embedder.passages, batches=0)


@promise("P9")
@pytest.mark.parametrize("ms", [DAY_MS, -DAY_MS])
def test_of_two_workers_one_ends_the_import_when_the_clock_jumps(hands: Hands, ms: int) -> None:
    def jump_and_take_over() -> None:
        hands.jump(ms)()
        hands.take_over()

    first = Clockwork(jump_and_take_over)
    hands.work(first)
    check_as_ever(hands, [*first.passages, *hands.shop.bought()], batches=1)


@promise("P9")
@pytest.mark.parametrize("ms", [DAY_MS, -DAY_MS])
def test_a_killed_workers_import_goes_on_at_once_after_a_jump(hands: Hands, ms: int) -> None:
    first = Clockwork(hands.jump(ms), hands.die)
    with pytest.raises(Killed):
        hands.work(first)
    hands.take_over()
    check_as_ever(hands, [*first.passages, *hands.shop.bought()], batches=1)


@promise("P9")
def test_a_pause_for_an_outage_does_not_last_a_day_longer_because_the_clock_was_put_back(hands: Hands) -> None:
    hands.shop.embedder.faults = [UpstreamError("provider_overloaded", "服务过载", retry_after_s=60)]
    assert hands.work().state == "paused"
    hands.jump(-DAY_MS)()
    hands.take_over()
    check_as_ever(hands, hands.shop.bought(), batches=0)


@promise("P9")
@pytest.mark.slow
@pytest.mark.beside
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("days", [1, -1])
@pytest.mark.parametrize("point", ["embed:bought@2", "index:begun"])
def test_a_real_workers_import_outlives_a_clock_that_jumps(world: World, point: str, days: int) -> None:
    clock = world.new_folder()
    with world.bench() as bench:
        import_id = bench.site.ask()
        first = bench.site.worker(fault=point, clock=clock)
        first.await_stopped()
        clock.write_text(str(days * DAY_MS))
        first.hold()
        second = bench.site.worker(clock=clock)
        bench.site.await_state(import_id, "completed")
        first.go_on()
        first.await_words(f"{import_id} stopped", f"{import_id} published")
        assert (first.ask_to_stop(), second.ask_to_stop()) == (0, 0)
        world.conclude(bench, import_id, fault=f"clock {days:+} day, worker SIGSTOP", where=point)


def test_what_is_published_after_the_clock_was_put_back_answers_though_its_id_sorts_below(tmp_path: Path) -> None:
    shop = stocked(tmp_path)
    first = shop.run().snapshot_id
    shop.now -= DAY_MS
    shop.write(d="# 丁\n后来的文件。")
    second = shop.run().snapshot_id
    assert shop.active().snapshot_id == second
    assert "d.md" in shop.members()
    assert [one.snapshot_id for one in list_snapshots(shop.db)] == [first, second]  # by the time each says it was made
    shop.close()


Jump = st.sampled_from([0, 1, -1, LEASE_MS, -LEASE_MS, 3 * LEASE_MS, -3 * LEASE_MS, DAY_MS, -DAY_MS])
Event = st.tuples(Jump, st.sampled_from(["go on", "take over", "die"]))


@promise("P9")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(events=st.lists(st.lists(Event, max_size=3), max_size=4))
def test_whatever_the_clock_does_and_whoever_dies_the_import_ends_as_ever(
    tmp_path_factory: pytest.TempPathFactory, events: list[list[tuple[int, str]]]
) -> None:
    hands = Hands(stocked(tmp_path_factory.mktemp("clock")))
    first_hands = [Clockwork(*(act_of(hands, *event) for event in life)) for life in events]
    for embedder in first_hands:
        try:
            hands.work(embedder)
        except Killed:
            hands.take_over()
    hands.shop.now += LEASE_MS  # nobody may hold it for longer than this
    for _ in range(3):
        hands.shop.now += LEASE_MS
        hands.take_over()
    bought = [text for embedder in first_hands for text in embedder.passages]
    check_as_ever(hands, [*bought, *hands.shop.bought()], batches=sum(map(len, events)))


def act_of(hands: Hands, ms: int, what: str) -> Callable[[], None]:
    def act() -> None:
        hands.jump(ms)()
        match what:
            case "die":
                hands.die()
            case "take over":
                hands.take_over()
            case _:
                return

    return act
