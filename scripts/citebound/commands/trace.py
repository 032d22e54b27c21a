"""`citebound runs`, and `trace RUN`: what a run did, as a tree: times, tokens, what was admitted or refused, and its manifest."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from scripts.citebound.api import Api, open_api, segment
from scripts.citebound.commands.named import last_run
from scripts.citebound.commands.scope import chosen
from scripts.citebound.console import count, date, note, plain, print_json, table, words
from scripts.citebound.failure import OK, USAGE, CommandFailed
from shared.saved_runs import Unreadable, read_run_file
from shared.telemetry import names
from shared.types.runfiles import RunFile
from shared.types.traces import Attributes, AttributeValue, RunSummary, SpanEvent, SpanNode, Trace

_SHOWN: Final = (  # attribute, label; in the order shown
    (names.TURN_NUMBER, "turn"),
    (names.TURN_FINAL, "final"),
    (names.ATTEMPT, "attempt"),
    (names.RESPONSE_MODEL, "model"),
    (names.TOOL_ARGUMENTS, "arguments"),
    (names.CONTEXT_TOKENS, "context"),
    (names.INPUT_TOKENS, "in"),
    (names.OUTPUT_TOKENS, "out"),
    (names.TOKENS_ESTIMATED, "estimated"),
    (names.HARNESS_STATUS, "harness"),
    (names.OBSERVATION_TOKENS, "observation"),
    (names.OBSERVATION_ADMITTED, "admitted"),
    (names.RESULT_BLOCKS, "blocks"),
    (names.RETRIEVAL_PROFILE, "profile"),
    (names.EMPTY_REASON, "empty"),
    (names.EMBEDDING_TOKENS, "embedding tokens"),
    (names.RERANK_TOKENS, "rerank tokens"),
    (names.RUN_STATUS, "status"),
    (names.TERMINATION, "reason"),
    (names.ERROR_TYPE, "error"),
)
_WHY: Final[dict[str, tuple[str, str]]] = {
    "empty": ("the file is empty", "文件是空的"),
    "no_json": ("it is no JSON", "不是 JSON 文件"),
    "foreign": ("it is JSON, but no run that Citebound saved", "是 JSON 文件，但不是 Citebound 保存的问答"),
    "newer": ("a newer Citebound saved it; update this one", "由更新版本的 Citebound 保存，请先更新"),
    "older": (
        "an older Citebound saved it, in a form that is not read any more",
        "由旧版本的 Citebound 保存，格式已不再支持",
    ),
    "damaged": ("it is damaged, or was changed", "文件已损坏或被改动"),
}
_NOTABLE = (names.BRAKE, names.PROTOCOL_ERROR, names.RETRY)
_LONGEST = 160  # characters of one value


def runs(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    wanted = _wanted(api, arguments)
    found = api.get("/api/runs", list[RunSummary], **wanted)
    if arguments.json:
        print_json(found)
        return OK
    if not found:
        note(
            words("no run fits", "没有符合条件的问答") if wanted else words("nothing has been asked yet", "还没有提问")
        )
        return OK
    table(
        words("RUN,ASKED,STATUS,STOPPED BY,SOURCES,TOKENS,QUESTION", "问答,时间,结果,停止原因,来源,token,问题").split(
            ","
        ),
        [
            (
                one.run_id,
                date(one.started_at_ms),
                one.status,
                one.stopped_by or "",
                str(one.citations),
                f"{one.chat_tokens:,}",
                " ".join(one.question.split()),
            )
            for one in found
        ],
    )
    return OK


def _wanted(api: Api, arguments: argparse.Namespace) -> dict[str, str | Sequence[str]]:
    """The query that the options mean. Raises: CommandFailed for a document that isn't there."""
    milliseconds = {
        f"{name}_duration_ms": round(seconds * 1000)
        for name in ("min", "max")
        if (seconds := getattr(arguments, f"{name}_seconds")) is not None
    }
    plain_ones = {
        "text": arguments.text,
        "status": arguments.status,
        "stopped_by": arguments.stopped_by,
        "min_tokens": arguments.min_tokens,
        "max_tokens": arguments.max_tokens,
        "snapshot_id": arguments.snapshot,
        "prompt_bundle": arguments.prompts,
        "before": arguments.before,
        "limit": arguments.limit,
        **milliseconds,
    }
    given: dict[str, str | Sequence[str]] = {
        name: str(value) for name, value in plain_ones.items() if value is not None
    }
    documents = chosen(api, arguments)
    return given if documents is None else {**given, "doc_id": documents}


def trace(arguments: argparse.Namespace) -> int:
    if arguments.open is not None:
        return _show_file(arguments)
    api = open_api(arguments.url)
    wanted = arguments.run_id or last_run(api)
    kind = "imports" if wanted.startswith("imp_") else "runs"
    if arguments.save is not None:
        if kind == "imports":
            raise CommandFailed("an import can't be saved", remedy="name a run: run_…", code=USAGE, error="usage")
        return _save(api.get(f"/api/runs/{segment(wanted)}/export", RunFile), arguments)
    found = api.get(f"/api/{kind}/{segment(wanted)}/trace", Trace)
    if arguments.json:
        print_json(found)
    else:
        _print(found)
    return OK


def _save(found: RunFile, arguments: argparse.Namespace) -> int:
    try:
        Path(arguments.save).write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1))
    except OSError as error:
        raise CommandFailed(
            f"{arguments.save} can't be written: {error.strerror}",
            remedy="name another file",
            code=USAGE,
            error="usage",
        ) from error
    run_id = found.record.answer.run_id
    if arguments.json:
        print_json({"run_id": run_id, "file": arguments.save, "contents": len(found.contents)})
    else:
        kept = count(len(found.contents), "content")
        plain(
            words(
                f"{run_id} is in {arguments.save}, with {kept}",
                f"{run_id} 已存入 {arguments.save}，含 {len(found.contents)} 份内容",
            )
        )
    return OK


def _show_file(arguments: argparse.Namespace) -> int:
    """No server is asked."""
    if arguments.run_id is not None or arguments.save is not None:
        raise CommandFailed(
            "--open shows what is in the file, and nothing else",
            remedy="leave the run and --save out",
            code=USAGE,
            error="usage",
        )
    try:
        found = read_run_file(Path(arguments.open).read_bytes())
    except OSError as error:
        raise _unreadable(arguments.open, str(error)) from error
    if isinstance(found, Unreadable):
        raise _unreadable(arguments.open, " · ".join(filter(None, (words(*_WHY[found.why]), found.detail))))
    if arguments.json:
        print_json(found)
        return OK
    answer = found.record.answer
    plain(f"{answer.run_id}  {date(answer.started_at_ms)}  {answer.status} · {answer.termination_reason}", "bold")
    plain(answer.question, "bold")
    plain(answer.text)
    for one in answer.citations:
        plain(f"[{one.marker}] {one.title} › {one.section_path}  {one.block_id}  {one.verdict}", "dim")
        plain(f"    {' '.join(one.quote.split())}", "dim")
    plain("")
    _print(found.trace)
    for sha256, text in found.contents.items():
        plain(f"\ncontent {sha256}", "bold")
        plain(text)
    return OK


def _unreadable(name: str, why: str) -> CommandFailed:
    return CommandFailed(
        f"{name} can't be read as a saved run: {why}",
        remedy="save one:\n./scripts/run trace RUN --save FILE",
        code=USAGE,
        error="usage",
    )


def _print(found: Trace) -> None:
    for root in found.spans:
        for line, style in tree_lines(root):
            plain(line, style)
    for line in manifest_lines(found.spans):
        plain(line, "dim")
    if found.partial:
        plain(
            f"partial: {found.lost_spans} spans and {found.lost_artifacts} contents were not kept, or are not written yet",
            "yellow",
        )


def tree_lines(span: SpanNode, *, first: str = "", rest: str = "") -> Iterator[tuple[str, str]]:
    """(line, style) of the span, its events and everything beneath it; lines are never cut, a reader may want to search them.

    first, rest: what stands before the first line and before all others.
    """
    yield first + span_line(span), "red" if span.status == "error" else ""
    inner = rest + ("│  " if span.children else "   ")
    for line in event_lines(span.events):
        yield f"{inner}• {line}", "yellow" if line.startswith(_NOTABLE) else "dim"
    for child in span.children:
        last = child is span.children[-1]
        yield from tree_lines(child, first=rest + ("└─ " if last else "├─ "), rest=rest + ("   " if last else "│  "))


def span_line(span: SpanNode) -> str:
    """name, milliseconds, and the attributes that explain it."""
    told = [f"{label}={_value(span.attributes[key])}" for key, label in _SHOWN if key in span.attributes]
    problem = [f"! {span.status_message}"] if span.status_message else []
    return "  ".join([span.name, f"{(span.end_ns - span.start_ns) / 1e6:.1f} ms", *told, *problem])


def event_lines(events: Iterable[SpanEvent]) -> Iterator[str]:
    for event in events:
        yield f"{event.name}  {_pairs(event.attributes)}".rstrip()


def manifest_lines(roots: Iterable[SpanNode]) -> Iterator[str]:
    for root in roots:
        manifest = root.attributes.get(names.MANIFEST)
        if isinstance(manifest, str):
            yield "manifest"
            for key, value in msgspec.json.decode(manifest, type=dict[str, object]).items():
                yield f"  {key}: {value}"


def _pairs(attributes: Attributes) -> str:
    return " ".join(f"{key.removeprefix('citebound.')}={_value(value)}" for key, value in attributes.items())


def _value(value: AttributeValue) -> str:
    text = "yes" if value is True else "no" if value is False else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
