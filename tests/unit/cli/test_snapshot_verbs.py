"""`snapshots VERB` and the labels of an import, against a stand-in for the API."""

import json
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from msgspec.structs import replace

from shared.types.snapshots import ChangedMember, SnapshotCheck, SnapshotCounts, SnapshotDiff, Verification
from tests.unit.cli.conftest import Run
from tests.unit.cli.served import Served, serving
from tests.unit.cli.shapes import BROKEN, LEAVE, NEW, OLD, PUMP, a_member, a_snapshot, an_import

DIFF = SnapshotDiff(
    before=OLD,
    after=NEW,
    counts_before=SnapshotCounts(documents=3, blocks=6, tokens=60),
    counts_after=SnapshotCounts(documents=3, blocks=7, tokens=70),
    unchanged=0,
    added=(a_member("新.md", doc="cccccccc"),),
    removed=(a_member("旧.md", doc="dddddddd"),),
    changed=(ChangedMember(before=replace(PUMP, version=1), after=PUMP),),
    relabelled=(ChangedMember(before=LEAVE, after=replace(LEAVE, access=("hr", "board"))),),
)


@pytest.fixture
def api(own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Generator[Served]:
    own_folder("")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with serving() as served:
        monkeypatch.setenv("CITEBOUND_URL", served.url)
        served.give("GET /api/snapshots", {"active": NEW, "snapshots": [a_snapshot(pinned=True), a_snapshot(OLD)]})
        yield served


def test_without_a_verb_the_snapshots_are_listed_with_what_keeps_them(api: Served, run: Run) -> None:
    code, out, _ = run("snapshots")
    assert code == 0
    (pinned,) = [line for line in out.splitlines() if "pinned" in line]
    assert NEW in pinned


def test_one_is_shown_with_its_gaps(api: Served, run: Run) -> None:
    api.give(f"GET /api/snapshots/{OLD}", a_snapshot(OLD, frozen=True, failed_documents=(BROKEN,)))
    code, out, _ = run("snapshots", "show", OLD)
    assert code == 0
    assert "for an evaluation" in out
    assert BROKEN.key in out


def test_a_difference_is_told_document_by_document_and_against_the_active_one_by_itself(api: Served, run: Run) -> None:
    api.give(f"GET /api/snapshots/{OLD}/diff/{NEW}", DIFF)
    code, out, _ = run("snapshots", "diff", OLD)
    assert code == 0
    for line in ("+ 资料/新.md", "- 资料/旧.md", "v1 → v2", "access: none → hr+board"):
        assert line in out
    assert run("snapshots", "diff", OLD, NEW)[1] == out


@pytest.mark.parametrize(("verb", "pinned"), [("pin", True), ("unpin", False)])
def test_a_pin_is_set_and_taken_away(api: Served, run: Run, verb: str, pinned: bool) -> None:
    api.give(f"POST /api/snapshots/{OLD}/{verb}", a_snapshot(OLD, pinned=pinned))
    assert run("snapshots", verb, OLD)[0] == 0
    assert api.asked == [f"POST /api/snapshots/{OLD}/{verb}"]


@pytest.mark.parametrize("sound", [True, False])
def test_verifying_tells_each_check_and_ends_by_what_came_of_it(api: Served, run: Run, sound: bool) -> None:
    check = SnapshotCheck(name="collection", state="ok" if sound else "broken", detail="41 个文件")
    api.give(f"POST /api/snapshots/{OLD}/verify", Verification(snapshot_id=OLD, sound=sound, checks=(check,)))
    code, out, err = run("snapshots", "verify", OLD)
    assert (code, "41 个文件" in out, "doctor" in err) == (0 if sound else 1, True, not sound)


def test_a_removal_that_something_forbids_fails_with_the_reason(api: Served, run: Run) -> None:
    api.refuse(f"DELETE /api/snapshots/{NEW}", 409, "conflict", "This snapshot can't be removed: it is the active one.")
    api.give(f"DELETE /api/snapshots/{OLD}", {"snapshot_id": OLD, "state": "removing"}, status=202)
    code, _, err = run("snapshots", "delete", NEW)
    assert (code, "it is the active one" in err) == (1, True)
    assert run("snapshots", "delete", OLD)[0] == 0


def test_json_and_url_hold_before_and_after_the_verb(api: Served, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEBOUND_URL")
    api.give(f"GET /api/snapshots/{OLD}", a_snapshot(OLD))
    before = run("snapshots", "--url", api.url, "--json", "show", OLD)
    after = run("snapshots", "show", OLD, "--json", "--url", api.url)
    assert before == after
    assert json.loads(before[1])["snapshot_id"] == OLD


def test_labels_reach_the_api_by_path_and_by_upload_and_none_said_is_not_nothing_said(
    api: Served, run: Run, tmp_path: Path
) -> None:
    api.give("POST /api/imports", {"import_id": "imp_01"}, status=202)
    api.give("GET /api/imports/imp_01", an_import())
    api.give("GET /api/documents", [])
    (tmp_path / "笔记.md").write_text("水泵", encoding="utf-8")
    flags = ("--label", "人事", "--alias", "HR", "--trust", "official", "--access", "hr", "--access", "board")
    run("import", str(tmp_path), *flags, "--tag", "制度", "--lang", "zh")
    said = {
        "label": "人事",
        "aliases": ["HR"],
        "trust": "official",
        "access": ["hr", "board"],
        "tags": ["制度"],
        "lang_hint": "zh",
    }
    assert api.last_body["source"] == said
    run("import", "--upload", str(tmp_path / "笔记.md"), *flags, "--tag", "制度", "--lang", "zh")
    assert json.dumps(said["access"]).replace(" ", "").encode() in api.bodies[-1]
    run("import", str(tmp_path))
    assert "source" not in api.last_body
    run("import", str(tmp_path), "--access", "")
    assert api.last_body["source"] == {"access": []}
