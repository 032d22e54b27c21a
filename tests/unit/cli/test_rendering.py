"""What people are shown, and the exit codes that scripts go by."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import structs

from scripts.citebound.__main__ import main
from scripts.citebound.commands.ask import EXIT_CODES, follow, ignore, place, print_answer, show_step
from scripts.citebound.commands.imports import exit_code, standing
from scripts.citebound.commands.trace import event_lines, manifest_lines, span_line, tree_lines
from scripts.citebound.console import complain, note, plain, size
from scripts.citebound.doctor.configured import read_settings, shown
from scripts.citebound.failure import CommandFailed
from shared.ids import RunId, SnapshotId
from shared.settings_shown import MASK
from shared.telemetry import names
from shared.types.events import AnswerDelta, RunCompleted, RunEvent, RunFailed, RunStarted, ToolCalled
from shared.types.imports import Import
from shared.types.runs import ClaimCheck
from shared.types.traces import SpanEvent, SpanNode
from tests.unit.cli.shapes import A_CITATION, BROKEN, an_answer, an_import

RUN = RunId("run_01")


def wire(*events: RunEvent) -> list[str]:
    return [msgspec.json.encode(event).decode() for event in events]


def test_a_streams_answer_is_the_one_of_its_last_event() -> None:
    shown: list[RunEvent] = []
    started = RunStarted(run_id=RUN, snapshot_id=SnapshotId("snap_01"))
    events = (started, AnswerDelta(text="退货率"), RunCompleted(answer=an_answer()))
    assert follow(wire(*events), show_step=shown.append) == an_answer()
    assert tuple(shown) == events


def test_a_failed_run_still_gives_the_answer_it_has() -> None:
    failed = RunFailed(
        run_id=RUN, code="provider_timeout", message="…", retryable=True, answer=an_answer(status="failed")
    )
    assert follow(wire(failed), show_step=ignore).status == "failed"


@pytest.mark.parametrize(
    ("events", "code"),
    [
        (wire(RunFailed(run_id=RUN, code="provider_auth", message="key", retryable=False)), "provider_auth"),
        (wire(AnswerDelta(text="退")), "interrupted"),
        ([], "interrupted"),
    ],
)
def test_a_stream_without_an_answer_is_a_failure_with_its_code(events: list[str], code: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        follow(events, show_step=ignore)
    assert caught.value.error == code


def test_what_a_document_is_called_does_not_speak_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    plain("\x1b[31m报告\x1b]0;x\x07\u202e.pdf\udcff\n第二行")
    note("\x1b[2J")
    complain("\x9b5n", "\x00")
    told = capsys.readouterr()
    assert told.out == "\\x1b[31m报告\\x1b]0;x\\x07\\u202e.pdf\\udcff\n第二行\n"
    assert not {"\x1b", "\x9b", "\x00"} & set(told.err)


def test_brackets_in_what_a_tool_was_asked_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    show_step(ToolCalled(turn=1, tool="scan_term", arguments='{"term":"[bold]错误[/bold]"}'))
    assert '{"term":"[bold]错误[/bold]"}' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("谁负责？", ["· 未能自动核对：“由赵敏负责。”[1]（赵敏）", "· 未能自动核对：“红茶常温存放。”[1]"]),
        (
            "Who leads it?",
            [
                "· Could not be checked automatically: “由赵敏负责。” [1] (赵敏)",
                "· Could not be checked automatically: “红茶常温存放。” [1]",
            ],
        ),
    ],
)
def test_a_sentence_that_could_not_be_checked_is_named(
    question: str, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    claims = (
        ClaimCheck(sentence="红茶常温存放。", markers=(1,), verdict="unchecked"),
        ClaimCheck(sentence="由赵敏负责。", markers=(1,), verdict="unchecked", problem="赵敏"),
        ClaimCheck(sentence="每年五天。", markers=(1,), verdict="supported"),
    )
    cited = (structs.replace(A_CITATION, verdict="unchecked", problem="赵敏"),)
    print_answer(an_answer(question=question, citations=cited, claims=claims), None)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if "核对" in line or "checked" in line or "赵敏" in line] == told


def test_exit_codes_of_answers() -> None:
    assert EXIT_CODES == {"complete": 0, "partial": 3, "refused": 4, "clarification": 4, "failed": 1}


@pytest.mark.parametrize(
    ("finished", "code"),
    [
        (an_import("completed"), 0),
        (an_import("completed", (BROKEN,)), 3),
        (an_import("failed"), 1),
        (an_import("cancelled"), 1),
        (an_import("paused"), 1),
    ],
)
def test_exit_codes_of_imports(finished: Import, code: int) -> None:
    assert exit_code(finished) == code


def test_progress_counts_documents_while_they_are_read_and_blocks_from_then_on() -> None:
    reading = an_import("running", stage="parse")
    assert standing(reading) == (2, 2, "2/2 documents")
    progress = structs.replace(
        reading.progress, blocks=4000, blocks_embedded=1000, blocks_per_s=25.0, remaining_s=120.5
    )
    assert standing(structs.replace(reading, stage="embed", progress=progress)) == (
        1000,
        4000,
        "1000/4000 blocks · 25.0/s · 2:00 left",
    )
    embedded = structs.replace(progress, blocks_embedded=4000, remaining_s=None)
    assert standing(structs.replace(reading, stage="index", progress=embedded)) == (4000, 4000, "4000/4000 blocks")


@pytest.mark.parametrize(
    ("section_path", "page_first", "page_last", "line"),
    [
        ("/", None, None, "手册"),
        ("第一章 › 1.2 安装", 3, 3, "手册 › 第一章 › 1.2 安装, p. 3"),
        ("第一章", 3, 4, "手册 › 第一章, pp. 3–4"),
        ("手册", None, None, "手册"),
        ("手册 › 第一章", None, None, "手册 › 第一章"),
    ],
)
def test_a_place_is_one_line(section_path: str, page_first: int | None, page_last: int | None, line: str) -> None:
    assert place(title="手册", section_path=section_path, page_first=page_first, page_last=page_last) == line


def a_span(**attributes: Any) -> SpanNode:
    return SpanNode(
        trace_id="t",
        span_id="s",
        parent_id=None,
        name="execute_tool search_blocks",
        start_ns=1_000_000,
        end_ns=3_500_000,
        status="unset",
        status_message=None,
        attributes={names.TOOL_ARGUMENTS: '{"query":"退货率"}', **attributes},
        events=(),
    )


def test_a_spans_line_says_how_long_it_took_what_it_was_asked_and_whether_it_was_admitted() -> None:
    span = a_span(**{names.OBSERVATION_TOKENS: 812, names.OBSERVATION_ADMITTED: False})
    assert span_line(span) == (
        'execute_tool search_blocks  2.5 ms  arguments={"query":"退货率"}  observation=812  admitted=no'
    )


def test_admission_is_shown_with_its_numbers() -> None:
    event = SpanEvent(name="admission", at_ns=0, attributes={"tokens": 812, "limit": 1000, "admitted": True})
    assert list(event_lines([event])) == ["admission  tokens=812 limit=1000 admitted=yes"]


def test_a_tree_shows_events_under_their_span_and_children_in_order() -> None:
    def named(name: str, *children: SpanNode, events: tuple[SpanEvent, ...] = ()) -> SpanNode:
        return msgspec.structs.replace(
            a_span(), name=name, attributes={}, end_ns=1_000_000, children=children, events=events
        )

    brake = SpanEvent(name="brake", at_ns=0, attributes={"kind": "gain"})
    root = named("run", named("turn", named("chat")), named("turn", events=(brake,)))
    assert [line for line, _ in tree_lines(root)] == [
        "run  0.0 ms",
        "├─ turn  0.0 ms",
        "│  └─ chat  0.0 ms",
        "└─ turn  0.0 ms",
        "      • brake  kind=gain",
    ]


def test_the_manifest_is_shown_key_by_key() -> None:
    root = a_span(**{names.MANIFEST: '{"model":"extractive","protocol":"react"}'})
    assert list(manifest_lines([root])) == ["manifest", "  model: extractive", "  protocol: react"]


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["search", "退货率", "--json"], 5, "unreachable"),
        (["search", "x", "--json", "--url", "localhost:1"], 2, "usage"),
        (["search", "x", "--json", "--url", "http://127.0.0.1:9"], 5, "unreachable"),
        (["block", "不是", "--json"], 2, "invalid_argument"),
        (["trace", "run_01", "--open", "轨迹.json", "--json"], 2, "usage"),
        (["ask", "  ", "--json"], 2, "invalid_argument"),
        (["search", "　", "--json"], 2, "invalid_argument"),
        (["scan", "", "--json"], 2, "invalid_argument"),
        (["import", "https://example.com/手册.html", "--json"], 2, "usage"),
        (["import", "--json"], 2, "usage"),
        (["import", "--mode", "reindex", "/", "--json"], 2, "usage"),
        (["import", "--mode", "别的", "--json"], 2, "usage"),
        (["smoke", "--json"], 2, "usage"),
        (["smoke", "--docs", "/没有", "--question", "?", "--json"], 2, "usage"),
    ],
)
def test_what_cannot_be_done_ends_with_a_code_and_a_remedy(
    arguments: list[str],
    code: int,
    error: str,
    capsys: pytest.CaptureFixture[str],
    own_folder: Callable[[str], None],
) -> None:
    own_folder("")
    assert main(arguments) == code
    told = json.loads(capsys.readouterr().out)["error"]
    assert told["code"] == error
    assert told["remedy"]


def test_a_wrong_setting_is_told_with_exit_code_2(
    capsys: pytest.CaptureFixture[str], own_folder: Callable[[str], None]
) -> None:
    own_folder("[chat]\nmodle = '通义'\n")
    assert main(["imports", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "invalid_settings"


def test_doctor_shows_what_is_set_and_hides_secrets() -> None:
    env = {
        "CITEBOUND_API_API_KEY": "sk-geheim-1",
        "CITEBOUND_BROKER_URL": "redis://user:sk-geheim-2@127.0.0.1:6379/0",
        "CITEBOUND_CHAT_EXTRA_BODY": '{"token": "sk-geheim-3"}',
    }
    _, checks = read_settings(env)
    text = "\n".join(check.detail for check in checks)
    assert "sk-geheim" not in text
    assert f"api.api_key = {MASK}" in text
    assert "redis://***@127.0.0.1:6379/0" in text
    assert shown("chat.model", "通义", secret=False) == "chat.model = 通义"


def test_sizes_are_for_people() -> None:
    assert [size(0), size(1023), size(1536), size(3 * 1024**3)] == ["0 B", "1023 B", "1.5 KiB", "3.0 GiB"]
