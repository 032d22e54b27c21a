"""`citebound ask "…"`: one question; the steps as they happen, the answer, where it comes from, what is missing."""

import argparse
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

import msgspec

from scripts.citebound.api import Api, open_api
from scripts.citebound.commands.scope import chosen
from scripts.citebound.console import count, err, note, out, plain, print_json, words
from scripts.citebound.failure import FAILED, NO_ANSWER, OK, PARTIAL, USAGE, CommandFailed
from shared.ids import DocId
from shared.text.lang import detect_lang
from shared.types.documents import PATH_SEPARATOR, ROOT_PATH, Trust
from shared.types.events import (
    AnswerDelta,
    CitationMade,
    RunCompleted,
    RunEvent,
    RunFailed,
    RunStarted,
    Thought,
    ToolCalled,
    ToolResulted,
    TurnStarted,
)
from shared.types.runs import Answer, Citation, Status
from shared.types.snapshots import SnapshotDocument
from shared.unchecked import unchecked

EXIT_CODES: Final[dict[Status, int]] = {
    "complete": OK,
    "partial": PARTIAL,
    "refused": NO_ANSWER,
    "clarification": NO_ANSWER,
    "failed": FAILED,
}
_STATUS_ZH: Final[dict[Status, str]] = {
    "complete": "完整",
    "partial": "不完整",
    "refused": "未作答",
    "clarification": "需要补充",
    "failed": "失败",
}
_TRUST_ZH: Final[dict[Trust, str]] = {
    "official": "官方",
    "internal": "内部",
    "third_party": "第三方",
    "web": "网络",
    "user_upload": "用户上传",
}
_SAME_AS_STATUS: Final = frozenset({"finished", "refused", "clarification"})  # reasons that say nothing more
_QUOTE_SHOWN = 200  # characters
_decoder = msgspec.json.Decoder(RunEvent)


def ask(arguments: argparse.Namespace) -> int:
    question = said(arguments.question, "question")
    api = open_api(arguments.url)
    try:
        body = request_body(question, api, arguments)
        if arguments.json:
            answer = api.post("/api/runs", body, Answer, timeout_s=600)
            print_json(answer)
        else:
            answer = follow(api.events("/api/runs", body), show_step=show_step if err.is_terminal else ignore)
            print_answer(answer, api)
    except CommandFailed as failed:
        if failed.error == "no_snapshot":
            failed.code = NO_ANSWER
        raise
    return EXIT_CODES[answer.status]


def said(text: str, what: str) -> str:
    """Raises: CommandFailed (USAGE) when there is nothing in it."""
    if not text.strip():
        raise CommandFailed(
            f"the {what} is empty", remedy="write it in quotation marks", code=USAGE, error="invalid_argument"
        )
    return text


def request_body(question: str, api: Api, arguments: argparse.Namespace) -> dict[str, Any]:
    body: dict[str, Any] = {"question": question}
    doc_ids = chosen(api, arguments)
    if doc_ids is not None:
        body["scope"] = {"doc_ids": doc_ids}
    if arguments.snapshot:
        body["snapshot_id"] = arguments.snapshot
    if arguments.prefer:
        body["prefer"] = arguments.prefer
    if arguments.conversation:
        body["conversation_id"] = arguments.conversation
    if arguments.path != "auto":
        body["path"] = arguments.path
    if arguments.prompt_bundle:
        body["prompt_bundle"] = arguments.prompt_bundle
    if arguments.protocol:
        body["protocol"] = arguments.protocol
    if arguments.strict:
        body["citation_mode"] = "strict"
    if arguments.trace_level:
        body["trace_level"] = arguments.trace_level
    return body


def ask_quietly(api: Api, question: str) -> Answer:
    """The answer alone, for commands that are made of others."""
    return follow(api.events("/api/runs", {"question": question}), show_step=ignore)


def follow(events: Iterable[str], *, show_step: Callable[[RunEvent], None]) -> Answer:
    """Read a run's events to its end. Raises: CommandFailed when it ended without an answer."""
    for data in events:
        event = _decoder.decode(data)
        show_step(event)
        if isinstance(event, RunCompleted):
            return event.answer
        if isinstance(event, RunFailed):
            if event.answer is not None:
                return event.answer
            remedy = "ask again in a moment" if event.retryable else "look at ./scripts/run doctor"
            raise CommandFailed(f"{event.message} ({event.code})", remedy=remedy, error=event.code)
    raise CommandFailed(
        "the stream ended before the answer did",
        remedy="ask again; the logs are in the data folder",
        error="interrupted",
    )


def ignore(_event: RunEvent) -> None:
    """For those who want only the answer."""


def show_step(event: RunEvent) -> None:
    """One dim line on stderr for what a person wants to see pass by."""
    match event:
        case RunStarted(run_id=run_id):
            note(f"run {run_id}")
        case TurnStarted(turn=turn, final=final, purpose=purpose):
            what = purpose or (words("final", "收尾") if final else "")
            note(words(f"turn {turn}", f"第 {turn} 轮") + (words(f" ({what})", f"（{what}）") if what else ""))
        case Thought(text=text):
            note(f"  {text}", "dim italic")
        case ToolCalled(tool=tool, arguments=given):
            note(f"  → {tool} {given}")
        case ToolResulted(harness_status=status, admitted=admitted, summary=summary):
            verdict = words("admitted", "已采纳") if admitted else words("refused", "未采纳") + f" ({status})"
            note(f"  ← {summary} · {verdict}", "dim" if admitted else "yellow")
        case AnswerDelta() | CitationMade() | RunCompleted() | RunFailed():
            return


def print_answer(answer: Answer, api: Api | None) -> None:
    """In the question's language. `api`: where the citations open; None = nowhere any more."""
    zh = detect_lang(answer.question) == "zh"
    if answer.text:
        plain(answer.text)
    if answer.citations:
        out.print()
        plain("来源" if zh else "Sources", "bold")
        files = {} if api is None else _files(api, answer)
        for citation in answer.citations:
            _print_citation(citation, api, file=files.get(citation.doc_id), zh=zh)
    told = (*unchecked(answer, lang="zh" if zh else "en"), *(one.text for one in answer.limitations))
    if told:
        out.print()
        plain("局限" if zh else "Limitations", "bold")
        for one in told:
            plain(f"  · {one}")
    out.print()
    style = {"complete": "green", "failed": "red"}.get(answer.status, "yellow")
    plain(outcome(answer, zh=zh), style)


def outcome(answer: Answer, *, zh: bool) -> str:
    """One line: how it ended, its id, what it took."""
    status = _STATUS_ZH[answer.status] if zh else answer.status
    why = "" if answer.termination_reason in _SAME_AS_STATUS else f" ({answer.termination_reason})"
    tools, tokens = answer.usage.tool_calls, answer.usage.chat_input_tokens + answer.usage.chat_output_tokens
    seconds = f"{answer.duration_ms / 1000:.1f}"
    took = (
        f"{seconds} 秒 · {tools} 次工具调用 · {tokens} 个 token"
        if zh
        else f"{seconds} s · {count(tools, 'tool call')} · {count(tokens, 'token')}"
    )
    spoken_in = f" · {answer.conversation_id}" if answer.conversation_id else ""
    return f"{status}{why} · {answer.run_id}{spoken_in} · {took}"


def place(*, title: str, section_path: str, page_first: int | None, page_last: int | None) -> str:
    """Title, section and pages on one line."""
    if section_path in (ROOT_PATH, title):
        where = title
    elif section_path.startswith(title + PATH_SEPARATOR):  # the first heading is the title, as in most documents
        where = section_path
    else:
        where = title + PATH_SEPARATOR + section_path
    if page_first is None:
        return where
    pages = f"p. {page_first}" if page_last in (None, page_first) else f"pp. {page_first}–{page_last}"
    return f"{where}, {pages}"


def _files(api: Api, answer: Answer) -> dict[DocId, str]:
    """The name of each cited document's file, as the snapshot knows it; an answer is shown without them rather than not."""
    found: dict[DocId, str] = {}
    for doc_id, snapshot_id in {citation.doc_id: citation.snapshot_id for citation in answer.citations}.items():
        with suppress(CommandFailed):
            found[doc_id] = api.get(f"/api/documents/{doc_id}", SnapshotDocument, snapshot_id=snapshot_id).key
    return found


def _print_citation(citation: Citation, api: Api | None, *, file: str | None, zh: bool) -> None:
    where = place(
        title=citation.title,
        section_path=citation.section_path,
        page_first=citation.page_first,
        page_last=citation.page_last,
    )
    plain(f"  [{citation.marker}] {where}")
    quote = " ".join(citation.quote.split())
    shown = quote if len(quote) <= _QUOTE_SHOWN else quote[:_QUOTE_SHOWN] + "…"
    plain(f"      {shown}", "dim")
    trust = _TRUST_ZH[citation.trust] if zh else citation.trust.replace("_", " ")
    origin = "/".join(part for part in (citation.source_label, file) if part)
    plain(f"      {citation.block_id} · {origin} · {trust}", "dim")
    if api is not None:
        plain(f"      {api.page_of(citation.block_id, citation.snapshot_id)}", "dim")
