"""Filters of the list of runs: the store's and those of runs in hand are the same, over whatever was asked."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.access import OWNER, Access
from shared.ids import BlockId, DocId, KeyId, RunId, SnapshotId
from shared.settings import TraceSettings
from shared.telemetry.rows import summary
from shared.telemetry.setup import Telemetry
from shared.telemetry.store import TraceStore
from shared.telemetry.wanted import fits
from shared.types.runs import Limitation, Limits, RunManifest, RunRecord, Status, Usage
from shared.types.traces import RunFilter, Stop
from tests.patience import PATIENCE_S
from tests.unit.telemetry.factories import A_CITATION, a_record

QUESTIONS = ("年假有几天？", "港口的 Berth 费用", "STRASSE 与 straße", "100% of it_")
BUNDLES = (None, "default/1", "default/2", "短/1")
DOCUMENTS = ("k3f9a2qd", "k3f9a2qe", "k3f9a2q")
TOKENS, DURATIONS_MS = (0, 900, 50_000), (3, 1_200, 90_000)
READER = Access(labels=frozenset({"team"}), key_id=KeyId("key_reader"))


def a_manifest(bundle: str) -> RunManifest:
    return RunManifest(
        app_version="1",
        loop_version="2",
        protocol="react",
        tool_contract_version="1",
        retrieval_profile="hybrid-scores-v2",
        prompt_bundle=bundle,
        prompt_bundle_sha256="0" * 64,
        model="local/scripted",
        embedding_version="e",
        keyword_version="k",
        snapshot_id=SnapshotId("snap_1"),
        snapshot_manifest_sha256="1" * 64,
        limits=Limits(),
        access_sha256="2" * 64,
    )


def a_run(n: int) -> RunRecord:
    """Every value of every field by turns, out of step with one another."""
    statuses, stops = get_args(Status), get_args(Stop)
    bundle = BUNDLES[n % len(BUNDLES)]
    stop = stops[n % 7] if n % 7 < len(stops) else None
    document = DOCUMENTS[n % len(DOCUMENTS)]
    record = a_record(run_id=f"run_{n:03}", question=QUESTIONS[n % 4], access=("team",) if n % 3 else ("team", "board"))
    limitations = (Limitation(code=stop, text="停止"),) if stop and n % 2 else ()
    answer = structs.replace(
        record.answer,
        status=statuses[n % len(statuses)],
        termination_reason=stop if stop and not n % 2 else "finished",
        limitations=(Limitation(code="snapshot_partial", text="缺"), *limitations),
        usage=Usage(chat_input_tokens=TOKENS[n % 3]),
        duration_ms=DURATIONS_MS[n // 3 % 3],
        snapshot_id=SnapshotId(f"snap_{n % 2}"),
        manifest=a_manifest(bundle) if bundle else None,
        citations=(structs.replace(A_CITATION, doc_id=DocId(document), block_id=BlockId(f"{document}.v1#2")),)
        if n % 5
        else (),
    )
    return structs.replace(record, answer=answer, asker=KeyId("key_reader") if n % 2 else None)


RUNS = tuple(map(a_run, range(60)))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[TraceStore]:
    folder = tmp_path_factory.mktemp("wanted")
    telemetry = Telemetry(database=folder / "traces.db", artifacts=folder / "artifacts", settings=TraceSettings())
    for record in RUNS:
        telemetry.keep(record)
    assert telemetry.flush(timeout_s=PATIENCE_S)
    yield telemetry.store
    telemetry.close()


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


FILTERS = st.builds(
    RunFilter,
    status=maybe(st.sampled_from(get_args(Status))),
    stopped_by=maybe(st.sampled_from((*get_args(Stop), "any", "none"))),
    min_tokens=maybe(st.sampled_from((*TOKENS, 901))),
    max_tokens=maybe(st.sampled_from((*TOKENS, 899))),
    min_duration_ms=maybe(st.sampled_from((*DURATIONS_MS, 4))),
    max_duration_ms=maybe(st.sampled_from((*DURATIONS_MS, 2))),
    snapshot_id=maybe(st.sampled_from(("snap_0", "snap_1", "snap"))),
    prompt_bundle=maybe(st.sampled_from(("default", "default/1", "default/", "def", "短", ""))),
    doc_ids=st.lists(st.sampled_from(DOCUMENTS), max_size=2).map(tuple),
    text=maybe(st.sampled_from(("年假", "berth", "STRASSE", "straße", "%", "_", "", "没有"))),
    before=maybe(st.sampled_from(("run_000", "run_017", "run_999"))),
)


@given(wanted=FILTERS)
def test_the_store_finds_what_fits_and_nothing_else(store: TraceStore, wanted: RunFilter) -> None:
    expected = [summary(record) for record in reversed(RUNS) if fits(record, wanted)]
    assert store.list_runs(OWNER, limit=100, wanted=wanted) == expected


@given(wanted=FILTERS)
def test_no_filter_shows_a_reader_what_others_asked(store: TraceStore, wanted: RunFilter) -> None:
    mine = [one for one in RUNS if one.asker == "key_reader" and one.access == ("team",) and fits(one, wanted)]
    assert store.list_runs(READER, limit=100, wanted=wanted) == [summary(one) for one in reversed(mine)]


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        (RunFilter(status="refused"), 12),
        (RunFilter(stopped_by="brake_gain"), 9),
        (RunFilter(min_tokens=900, max_tokens=900), 20),
        (RunFilter(max_duration_ms=3), 21),
        (RunFilter(snapshot_id=SnapshotId("snap_1")), 30),
        (RunFilter(prompt_bundle="default"), 30),
        (RunFilter(doc_ids=(DocId("k3f9a2q"),)), 16),
        (RunFilter(text="strasse"), 15),
        (RunFilter(before=RunId("run_010")), 10),
    ],
)
def test_each_filter_leaves_its_part(store: TraceStore, wanted: RunFilter, number: int) -> None:
    assert len(store.list_runs(OWNER, limit=100, wanted=wanted)) == number


def test_a_run_that_is_not_on_disk_yet_is_filtered_alike(tmp_path: Path) -> None:
    telemetry = Telemetry(database=tmp_path / "t.db", artifacts=tmp_path / "a", settings=TraceSettings())
    for record in RUNS[:8]:
        telemetry.keep(record)
    wanted = RunFilter(text="berth")
    assert [one.run_id for one in telemetry.list_runs(OWNER, limit=9, wanted=wanted)] == ["run_005", "run_001"]
    telemetry.close()


def test_runs_of_before_are_found_by_what_their_summaries_did_not_say(tmp_path: Path) -> None:
    telemetry = Telemetry(database=tmp_path / "t.db", artifacts=tmp_path / "a", settings=TraceSettings())
    for record in RUNS:
        telemetry.keep(record)
    telemetry.close()
    with closing(sqlite3.connect(tmp_path / "t.db")) as old, old:
        old.execute("update runs set summary = json_remove(summary, '$.stopped_by', '$.prompt_bundle')")
        old.execute("drop index runs_asker")
        old.execute("pragma user_version = 6")
    found = TraceStore(tmp_path / "t.db").list_runs(OWNER, limit=100)
    assert found == [summary(record) for record in reversed(RUNS)]
