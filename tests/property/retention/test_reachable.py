"""For every catalog: what something refers to stays, what nothing refers to goes, whenever it is killed."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.catalog.retention import Hold, Standing
from shared.ids import SnapshotId
from shared.types.snapshots import SnapshotState
from tests.property.retention.worlds import DAY_MS, NOW_MS, Reachable, Stored, World, snapshot_name, worlds
from worker.retention import DAY_S, SILENT_S, Retention, Silence, Store, superfluous

HOLDS: tuple[Hold, ...] = ("active", "pinned", "frozen", "in_use", "import_base")


class Killed(BaseException):
    pass


def keeper(stored: Stored, now_ms: int) -> Retention:
    store = Store(
        db=stored.db,
        blobs=stored.blobs,
        cache=stored.cache,
        vectors=stored.vectors,
        owns_collections=True,
        sweeps=stored.layout.sweeps,
    )
    return Retention(
        store,
        keep=stored.world.keep,
        conversation_days=90,
        embedding_version="e",
        parser_version="p",
        now_ms=lambda: now_ms,
        monotonic_s=lambda: 0.0,
    )


@settings(deadline=None, max_examples=30)  # each on a disk of its own
@given(world=worlds(), die_at=st.integers(0, 40))
def test_exactly_what_nothing_refers_to_goes_also_after_a_kill(world: World, die_at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stored = Stored(world, Path(folder))
        reachable = Reachable(world)
        needed = {stored.ids[version] for version in reachable.versions}
        steps = iter(range(die_at))

        def check() -> None:
            assert needed <= stored.versions()
            assert {snapshot_name(n) for n in reachable.snapshots} <= set(stored.vectors.names())
            if next(steps, None) is None:
                raise Killed

        with suppress(Killed):
            keeper(stored, NOW_MS).run(check)
        keeper(stored, NOW_MS).run(lambda: None)
        stored.age(DAY_S + 1)
        keeper(stored, NOW_MS + DAY_MS).run(lambda: None)

        names = {row[0] for row in stored.db.conn.execute("select snapshot_id from snapshots")}
        assert names == set(stored.vectors.names()) == {snapshot_name(n) for n in reachable.snapshots}
        assert stored.versions() == needed
        keys = set[str]().union(*(stored.keys[version] for version in reachable.versions))
        every = set[str]().union(*stored.keys.values())
        assert set(stored.cache.get("e", sorted(every))) == keys
        assert set(stored.blobs.unused(for_s=0)) == reachable.blobs
        stored.close()


def standing(number: int, state: SnapshotState, holds: frozenset[Hold]) -> Standing:
    published = number if state in ("ready", "ready_partial") else None
    return Standing(snapshot_id=SnapshotId(f"snap_{number}"), state=state, published_at_ms=published, holds=holds)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("ready", "ready_partial", "failed", "building")),
            st.frozensets(st.sampled_from(HOLDS), max_size=1),
        ),
        max_size=9,
    ),
    st.integers(1, 9),
)
def test_the_last_ones_and_the_held_ones_never_go(
    kinds: list[tuple[SnapshotState, frozenset[Hold]]], keep: int
) -> None:
    snapshots = [standing(number, state, holds) for number, (state, holds) in enumerate(kinds)]
    gone = superfluous(snapshots, keep=keep)
    published = [one.snapshot_id for one in snapshots if one.published_at_ms is not None]
    assert not set(gone) & set(published[-keep:])
    assert not [one for one in snapshots if one.snapshot_id in gone and (one.holds or one.state == "building")]
    assert {one.snapshot_id for one in snapshots if one.snapshot_id in published[:-keep] and not one.holds} <= set(gone)


@pytest.mark.parametrize("jump_s", [0.0, 1.0])
def test_only_silence_that_was_watched_counts(jump_s: float) -> None:
    silence, lease = Silence(), (SnapshotId("snap_1"), "api")
    assert silence.observe({lease: 1}, at_s=1e9) == {}
    assert silence.observe({lease: 1}, at_s=1e9 + SILENT_S - 1) == {}
    assert silence.observe({lease: 2}, at_s=1e9 + SILENT_S + jump_s) == {}
    assert silence.observe({lease: 2}, at_s=1e9 + 2 * SILENT_S + jump_s) == {lease: 2}
    assert silence.observe({}, at_s=1e9 + 2 * SILENT_S + jump_s) == {}
