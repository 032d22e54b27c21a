"""Whole commands against a stand-in for the API: what they ask of it, what they print, how they end."""

import json
import os
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from scripts.citebound.__main__ import main
from shared.ids import RunId
from shared.types.events import RunCompleted
from shared.types.runs import StoredQuote, Usage
from shared.types.traces import RunSummary, Trace
from tests.factories import nest
from tests.unit.cli.served import Served, serving
from tests.unit.cli.shapes import (
    A_CITATION,
    BROKEN,
    LEAVE,
    NEW,
    OLD,
    PUMP,
    a_block,
    a_member,
    a_snapshot,
    an_answer,
    an_import,
)


@pytest.fixture
def api(own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Generator[Served]:
    own_folder("")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with serving() as served:
        monkeypatch.setenv("CITEBOUND_URL", served.url)
        served.give("GET /api/documents", [PUMP, LEAVE])
        served.give("GET /api/documents/aaaaaaaa", PUMP)
        served.give("GET /api/snapshots", {"active": NEW, "snapshots": [a_snapshot()]})
        served.give(f"GET /api/snapshots/{NEW}", a_snapshot())
        served.give("POST /api/imports", {"import_id": "imp_01"}, status=202)
        yield served


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command; its exit code, stdout and stderr."""

    def typed(*argv: str) -> tuple[int, str, str]:
        code = main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return typed


Run = Callable[..., tuple[int, str, str]]


# What import does


def test_the_mode_of_an_import_reaches_the_api_by_path_and_by_upload(api: Served, run: Run, tmp_path: Path) -> None:
    api.give("GET /api/imports/imp_01", an_import())
    (tmp_path / "笔记.md").write_text("水泵", encoding="utf-8")
    assert run("import", "--mode", "sync", str(tmp_path))[0] == 0
    assert api.last_body == {"mode": "sync", "paths": [str(tmp_path)]}
    assert run("import", "--mode", "sync", "--upload", str(tmp_path / "笔记.md"))[0] == 0
    assert b'name="mode"\r\n\r\nsync' in api.bodies[-1]


def test_an_upload_sends_no_file_that_a_link_points_at_elsewhere_and_waits_for_no_pipe(
    api: Served, run: Run, tmp_path: Path
) -> None:
    api.give("GET /api/imports/imp_01", an_import())
    folder = tmp_path / "资料"
    folder.mkdir()
    (folder / "笔记.md").write_text("水泵", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("not for upload", encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(folder / "pipe")
    assert run("import", "--upload", str(folder))[0] == 0
    assert "水泵".encode() in api.bodies[-1]
    assert b"not for upload" not in api.bodies[-1]
    assert run("import", "--upload", str(folder / "pipe"))[0] == 2


def test_an_upload_walks_folders_deeper_than_python_calls_itself_and_tells_what_it_could_not_read(
    api: Served, run: Run, tmp_path: Path
) -> None:
    api.give("GET /api/imports/imp_01", an_import())
    (tmp_path / "资料").mkdir()
    (tmp_path / "资料" / "Thumbs.db").write_text("nobody's document")
    (tmp_path / "外.md").write_text("not for upload")
    (tmp_path / "资料" / "外.md").symlink_to(tmp_path / "外.md")
    nest(tmp_path / "资料", "d", 1_100)
    code, _, err = run("import", "--upload", str(tmp_path / "资料"))
    subprocess.run(["rm", "-r", tmp_path / "资料"], check=True)  # too deep for who clears tmp_path
    assert code == 0
    assert api.bodies[-1].count(b'filename="') == 1
    assert f"not sent: {tmp_path}/资料/外.md: The link leads outside the folder." in err


def test_what_is_removed_need_not_be_there_any_more(api: Served, run: Run) -> None:
    done = an_import(mode="remove", base_snapshot_id=OLD)
    api.give("GET /api/imports/imp_01", done)
    both = [a_snapshot(documents=2), a_snapshot(OLD, documents=5)]
    api.give("GET /api/snapshots", {"active": NEW, "snapshots": both})
    code, out, _ = run("import", "--mode", "remove", "/没有/旧.md")
    assert (code, api.last_body) == (0, {"mode": "remove", "paths": ["/没有/旧.md"]})
    assert "3 documents taken out, 2 left" in out


def test_reindex_takes_no_paths(api: Served, run: Run) -> None:
    api.give("GET /api/imports/imp_01", an_import(mode="reindex"))
    assert run("import", "--mode", "reindex")[0] == 0
    assert api.last_body == {"mode": "reindex", "paths": []}


def test_the_help_of_import_says_what_each_mode_does(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("help", "import")
    told = capsys.readouterr().out
    for mode in ("add", "sync", "remove", "reindex"):
        assert f"--mode {mode}" in told


def test_adding_a_folder_hints_at_documents_whose_files_have_gone(api: Served, run: Run, tmp_path: Path) -> None:
    (tmp_path / "在.md").write_text("在", encoding="utf-8")
    root = tmp_path.resolve().as_posix()
    there = [a_member(key, doc=doc, root=root) for key, doc in (("在.md", "a"), ("走了.md", "b"), ("也走了.md", "c"))]
    api.give("GET /api/documents", [*there, PUMP])
    api.give("GET /api/imports/imp_01", an_import())
    _, _, err = run("import", str(tmp_path))
    assert "2 documents of this folder are no longer there and still answer" in err
    assert f"./scripts/run import --mode sync {tmp_path}" in err


def test_what_lies_in_a_zip_or_under_another_form_of_its_name_has_not_gone(
    api: Served, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "旧.zip").write_bytes(b"")
    (tmp_path / "re\u0301sume\u0301.md").write_text("在", encoding="utf-8")
    root = tmp_path.resolve().as_posix()
    there = [a_member(key, doc=doc, root=root) for key, doc in (("旧.zip/一.md", "a"), ("r\u00e9sum\u00e9.md", "b"))]
    api.give("GET /api/documents", there)
    api.give("GET /api/imports/imp_01", an_import())
    assert "no longer there" not in run("import", str(tmp_path))[2]


def test_a_folder_with_nothing_in_it_fails_and_says_how_to_take_documents_out(
    api: Served, run: Run, tmp_path: Path
) -> None:
    failed = an_import("failed", snapshot_id=None, failure_code="no_documents", failure_reason="No document was found.")
    api.give("GET /api/imports/imp_01", failed)
    code, _, err = run("import", str(tmp_path))
    assert code == 1
    assert "./scripts/run import --mode remove PATH" in err.splitlines()


def test_an_import_says_when_it_was_built_on_an_older_snapshot(api: Served, run: Run, tmp_path: Path) -> None:
    api.give("GET /api/imports/imp_01", an_import(base_snapshot_id="snap_b"))
    ready = [a_snapshot(NEW), a_snapshot("snap_d"), a_snapshot("snap_c"), a_snapshot("snap_b")]  # type: ignore[arg-type]
    failed = a_snapshot("snap_x", state="failed")  # type: ignore[arg-type]
    api.give("GET /api/snapshots", {"active": NEW, "snapshots": [failed, *ready]})
    assert "built on snap_b, which was active: 2 snapshots behind the newest" in run("import", str(tmp_path))[1]
    api.give("GET /api/snapshots", {"active": NEW, "snapshots": [ready[0], ready[3]]})
    assert "built on" not in run("import", str(tmp_path))[1]


def test_an_import_that_changed_nothing_says_so_and_is_no_partial_success(
    api: Served, run: Run, tmp_path: Path
) -> None:
    api.give("GET /api/imports/imp_01", an_import(failed=(BROKEN,), base_snapshot_id=NEW))
    api.give(
        "GET /api/snapshots",
        {"active": NEW, "snapshots": [a_snapshot(state="ready_partial", failed_documents=[BROKEN])]},
    )
    code, out, _ = run("import", str(tmp_path))
    assert (code, "nothing changed" in out, "坏.pdf" in out) == (0, True, True)


def test_a_document_that_fails_anew_is_a_partial_success(api: Served, run: Run, tmp_path: Path) -> None:
    api.give("GET /api/imports/imp_01", an_import(failed=(BROKEN,), base_snapshot_id=OLD))
    api.give("GET /api/snapshots", {"active": NEW, "snapshots": [a_snapshot(), a_snapshot(OLD)]})
    assert run("import", str(tmp_path))[0] == 3


def test_a_path_that_may_not_be_imported_is_answered_with_the_command_that_works(
    api: Served, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "我的 资料").mkdir()
    refused = {
        "code": "invalid_argument",
        "detail": "not there",
        "field": "paths[0]",
        "remedy": "see /openapi/openapi.json",
    }
    api.give("POST /api/imports", refused, status=400)
    code, _, err = run("import", str(tmp_path / "我的 资料"))
    assert code == 2
    assert f"./scripts/run import --upload '{tmp_path}/我的 资料'" in [line.strip() for line in err.splitlines()]


def test_imports_are_listed_with_their_dates(api: Served, run: Run) -> None:
    api.give("GET /api/imports", [an_import(failed=(BROKEN,), created_at_ms=1_700_000_000_000)])
    header, line = run("imports")[1].splitlines()
    assert header.split() == ["IMPORT", "BEGUN", "MODE", "STATE", "DOCUMENTS", "FAILED", "SNAPSHOT"]
    assert "2023-11-1" in line


# What ask and its relatives do


def test_an_answer_to_a_chinese_question_is_chinese_throughout(api: Served, run: Run) -> None:
    api.stream("POST /api/runs", RunCompleted(answer=an_answer()))
    code, out, _ = run("ask", "水泵多久更换一次？")
    assert code == 0
    assert "来源" in out
    assert "资料/水泵/手册.md · 用户上传" in out
    assert "完整 · run_01 · 1.2 秒 · 1 次工具调用 · 30 个 token" in out
    for english in ("Sources", "complete", "finished", "tool", "user_upload"):
        assert english not in out


def test_an_answer_in_english_counts_in_singular_and_plural_and_names_no_reason_twice(api: Served, run: Run) -> None:
    answer = an_answer(question="How long does the pump last?", usage=Usage(tool_calls=1, chat_input_tokens=2))
    api.stream("POST /api/runs", RunCompleted(answer=answer))
    assert "\ncomplete · run_01 · 1.2 s · 1 tool call · 2 tokens\n" in run("ask", answer.question)[1]


def test_a_citation_comes_with_the_address_of_its_page(api: Served, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    api.stream("POST /api/runs", RunCompleted(answer=an_answer()))
    address = f"{api.url}/api/blocks/aaaaaaaa.v2%231?snapshot={NEW}"
    assert address in run("ask", "多久？")[1]
    monkeypatch.setenv("CITEBOUND_API_API_KEY", "geheim-geheim-geheim")
    api.headers = {"Link": '</api/blocks/aaaaaaaa.v2%231?signature=x>; rel="alternate"; type="text/html"'}
    api.give("GET /api/blocks/aaaaaaaa.v2#1", {})
    assert f"{api.url}/api/blocks/aaaaaaaa.v2%231?signature=x" in run("ask", "多久？")[1]


def test_a_question_to_an_empty_library_ends_like_one_without_an_answer(api: Served, run: Run) -> None:
    api.refuse("POST /api/runs", 409, "no_snapshot", "Nothing has been published yet.")
    assert run("ask", "多久？")[0] == 4
    assert run("ask", "多久？", "--json")[0] == 4


@pytest.mark.parametrize(
    "name", ["aaaaaaaa", "aaaaaaaa.v2", "水泵/手册.md", "手册.md", "水泵使用手册", "资料/水泵/手册.md"]
)
@pytest.mark.parametrize("command", ["ask", "search", "scan"])
def test_a_document_is_named_by_whatever_it_is_called(api: Served, run: Run, name: str, command: str) -> None:
    api.stream("POST /api/runs", RunCompleted(answer=an_answer()))
    for tool in ("search_blocks", "scan_term"):
        api.give(f"POST /api/tools/{tool}", {"snapshot_id": NEW, "empty_reason": "no_match", "payload": {}})
    run(command, "更换", "--doc", name)
    body = api.last_body
    assert body.get("scope", body)["doc_ids"] == ["aaaaaaaa"]


@pytest.mark.parametrize(
    ("given", "doc_ids"),
    [
        (["--source", "人事"], ["bbbbbbbb"]),
        (["--source", "hr"], ["bbbbbbbb"]),
        (["--tag", "设备", "--source", "HR"], ["bbbbbbbb", "aaaaaaaa"]),
    ],
)
def test_sources_and_tags_narrow_a_scan_too(api: Served, run: Run, given: list[str], doc_ids: list[str]) -> None:
    api.give("POST /api/tools/scan_term", {"snapshot_id": NEW, "empty_reason": "no_match", "payload": {}})
    run("scan", "更换", *given)
    assert api.last_body["doc_ids"] == doc_ids


def test_a_scan_that_finds_nothing_says_that_it_looks_inside_blocks(api: Served, run: Run) -> None:
    empty: dict[str, Any] = {"snapshot_id": NEW, "empty_reason": "no_match", "payload": {}}
    api.give("POST /api/tools/scan_term", empty)
    assert "inside one block" in run("scan", "更换")[2]
    api.give("POST /api/tools/scan_term", {**empty, "empty_reason": "collection_empty"})
    assert "inside one block" not in run("scan", "更换")[2]


@pytest.mark.parametrize(
    ("given", "there"),
    [(["--doc", "水泵手册"], "水泵使用手册"), (["--source", "HE"], "HR"), (["--tag", "设施"], "设备")],
)
def test_a_name_that_is_not_there_is_answered_with_those_that_are(
    api: Served, run: Run, given: list[str], there: str
) -> None:
    code, out, _ = run("ask", "更换？", *given, "--json")
    assert code == 2
    assert there in json.loads(out)["error"]["remedy"]


def test_what_a_snapshot_could_not_read_is_told_beside_every_list(api: Served, run: Run) -> None:
    api.give(f"GET /api/snapshots/{NEW}", a_snapshot(state="ready_partial", failed_documents=[BROKEN, BROKEN]))
    empty: dict[str, Any] = {"snapshot_id": NEW, "empty_reason": "no_match", "payload": {}}
    api.give("POST /api/tools/scan_term", empty)
    api.give("POST /api/tools/search_blocks", empty)
    for command in (["scan", "更换"], ["search", "更换"], ["documents"]):
        told = [
            line for line in run(*command)[2].splitlines() if "2 documents of this snapshot could not be read" in line
        ]
        assert len(told) == 1, command


def test_documents_are_listed_by_what_names_them(api: Served, run: Run) -> None:
    header, pump, leave = run("documents")[1].splitlines()
    assert header.split() == ["DOC", "VERSION", "LANG", "BLOCKS", "SOURCE", "FILE", "TITLE"]
    assert pump.split() == ["aaaaaaaa", "2", "zh", "2", "资料", "水泵/手册.md", "水泵使用手册"]
    assert leave.split()[0] == "bbbbbbbb"


def test_a_block_is_shown_with_its_file_and_the_address_of_its_page(api: Served, run: Run) -> None:
    view: dict[str, Any] = {
        "block": a_block(),
        "document": PUMP,
        "snapshot_id": NEW,
        "in_active_snapshot": True,
    }
    api.give("GET /api/blocks/aaaaaaaa.v2#1", view)
    out = run("block", "aaaaaaaa.v2#1")[1]
    assert "资料/水泵/手册.md" in out
    assert f"{api.url}/api/blocks/aaaaaaaa.v2%231?snapshot={NEW}" in out


# What trace and the rest do


def test_a_trace_is_the_last_run_s_unless_another_run_or_an_import_is_named(api: Served, run: Run) -> None:
    summary = RunSummary(
        run_id=RunId("run_07"),
        question="多久\n更换？",
        status="complete",
        termination_reason="finished",
        extractive=True,
        citations=1,
        chat_tokens=3,
        embedding_tokens=1,
        tool_calls=1,
        snapshot_id=NEW,
        started_at_ms=0,
        duration_ms=5,
    )
    empty = Trace(partial=False, lost_spans=0, lost_artifacts=0, spans=())
    api.give("GET /api/runs", [summary])
    for path in ("/api/runs/run_07/trace", "/api/runs/run_01/trace", "/api/imports/imp_01/trace"):
        api.give(f"GET {path}", empty)
    assert [run("trace", *given)[0] for given in ([], ["run_01"], ["imp_01"])] == [0, 0, 0]
    assert [one for one in api.asked if one.endswith("/trace")] == [
        "GET /api/runs/run_07/trace",
        "GET /api/runs/run_01/trace",
        "GET /api/imports/imp_01/trace",
    ]
    assert "多久 更换？" in run("runs")[1]


def test_runs_are_narrowed_down_by_what_is_asked_for(api: Served, run: Run) -> None:
    api.give("GET /api/runs", [])
    api.give("GET /api/documents", [a_member("手册.pdf", doc="k3f9a2qd")])
    given = (
        "--text",
        "多久",
        "--status",
        "partial",
        "--max-seconds",
        "1.5",
        "--prompts",
        "default",
        "--doc",
        "手册.pdf",
    )
    code, _, said = run("runs", *given)
    (asked,) = [one for one in api.asked if "/api/runs" in one]
    wanted = parse_qs(urlsplit(asked.removeprefix("GET ")).query)
    expected = {
        "text": "多久",
        "status": "partial",
        "max_duration_ms": "1500",
        "prompt_bundle": "default",
        "doc_id": "k3f9a2qd",
    }
    assert wanted == {name: [value] for name, value in expected.items()}
    assert (code, "no run fits" in said) == (0, True)


def test_a_server_that_wants_a_key_is_answered_with_where_to_put_it(api: Served, run: Run) -> None:
    api.refuse("GET /api/imports", 401, "unauthorized", "This server wants its key.")
    assert "set CITEBOUND_API_API_KEY" in run("imports")[2]


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        ("./scripts/run", "./scripts/run"),
        ("/opt/citebound/scripts/run", "/opt/citebound/scripts/run"),
        ("/usr/local/bin/citebound", "citebound"),
    ],
)
def test_commands_in_messages_are_written_as_the_person_typed_this_one(
    run: Run, own_folder: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, called: str, shown: str
) -> None:
    own_folder("")
    monkeypatch.setenv("_CITEBOUND_CALLED", called)
    assert f"start it with {shown}, or" in run("imports")[2]


def test_a_block_that_is_gone_is_shown_as_far_as_an_answer_quoted_it(api: Served, run: Run) -> None:
    kept = {name: getattr(A_CITATION, name) for name in StoredQuote.__struct_fields__ if hasattr(A_CITATION, name)}
    quote = StoredQuote(**kept, snapshot_removed_at_ms=None, run_id=RunId("run_01"), cited_at_ms=0, active_version=None)
    api.give("GET /api/blocks/aaaaaaaa.v2#1", quote)
    code, out, _ = run("block", "aaaaaaaa.v2#1")
    assert code == 0
    assert "每年更换。" in out
    assert "run_01" in out


def test_uploads_to_be_taken_out_are_named_by_files_that_exist(api: Served, run: Run) -> None:
    code, out, _ = run("import", "--mode", "remove", "--upload", "/没有/旧.md", "--json")
    assert (code, json.loads(out)["error"]["code"], api.bodies) == (2, "usage", [])


# What can't be meant


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "什么\udcff？"),
        ("import", "/tmp/\udce4.md"),
        ("trace", "run_\ud800"),
        ("imports", "--url", "http://["),
        ("imports", "--url", "http://a:99999"),
        ("imports", "--url", "http://a:b"),
        ("imports", "--url", "http://"),
        ("imports", "--url", "http://a..b"),
        ("imports", "--url", "http://" + "a" * 300),
        ("imports", "--url", "http://a b"),
        ("imports", "--url", "http://[::1"),
        ("imports", "--url", "ftp://a"),
    ],
)
def test_what_is_no_text_or_no_address_is_refused_in_a_line(run: Run, arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("citebound: ")
    assert (run(*arguments, "--json")[0], json.loads(run(*arguments, "--json")[1])["error"]["code"]) == (2, "usage")


@pytest.mark.parametrize(("command", "path"), [("trace", "/api/runs/{}/trace"), ("pause", "/api/imports/{}/pause")])
@pytest.mark.parametrize("odd", ["a/b", "..", ".", "a?b=c", "a#b", "a%2Fb", " ", "运行\n"])
def test_an_odd_id_stays_one_part_of_the_address(api: Served, run: Run, command: str, path: str, odd: str) -> None:
    assert run(command, odd)[0] == 1
    asked = api.asked[-1].split(" ", 1)[1]
    assert unquote(asked) == path.format(odd)
    assert (asked.count("/"), "?" in asked) == (path.count("/"), False)


@pytest.mark.parametrize("command", [("doctor",), ("imports",), ("import", "/tmp"), ("up",)])
def test_a_data_folder_that_cannot_be_named_is_refused_in_a_line(
    run: Run, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEBOUND_DATA_DIR", "/tmp/" + "长" * 300)
    code, _, err = run(*command)
    assert code == 2
    assert "CITEBOUND_DATA_DIR" in err
    assert "Traceback" not in err
