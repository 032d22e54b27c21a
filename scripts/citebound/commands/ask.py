"""`citebound ask "…"`: one question; the steps as they happen, the answer, where it comes from, what is missing."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from scripts.citebound.api import Api, open_api
from scripts.citebound.console import err, note, out, plain, print_json, words
from scripts.citebound.failure import FAILED, NO_ANSWER, OK, PARTIAL, CommandFailed
from shared.types.documents import PATH_SEPARATOR, ROOT_PATH
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

EXIT_CODES: Final[dict[Status, int]] = {
    "complete": OK,
    "partial": PARTIAL,
    "refused": NO_ANSWER,
    "clarification": NO_ANSWER,
    "failed": FAILED,
}
_QUOTE_SHOWN = 200  # characters
_decoder = msgspec.json.Decoder(RunEvent)


def ask(arguments: argparse.Namespace) -> int:
    api = open_api(arguments.url)
    body = request_body(arguments)
    if arguments.json:
        answer = api.post("/api/runs", body, Answer, timeout_s=600)
        print_json(answer)
    else:
        answer = follow(api.events("/api/runs", body), show_step=show_step if err.is_terminal else ignore)
        print_answer(answer)
    return EXIT_CODES[answer.status]


def request_body(arguments: argparse.Namespace) -> dict[str, Any]:
    scope = {"doc_ids": arguments.doc, "sources": arguments.source, "tags": arguments.tag}
    given = {name: values for name, values in scope.items() if values}
    body: dict[str, Any] = {"question": arguments.question}
    if given:
        body["scope"] = given
    if arguments.snapshot:
        body["snapshot_id"] = arguments.snapshot
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
        case TurnStarted(turn=turn, final=final):
            note(words(f"turn {turn}", f"第 {turn} 轮") + (words(" (final)", "（收尾）") if final else ""))
        case Thought(text=text):
            note(f"  {text}", "dim italic")
        case ToolCalled(tool=tool, arguments=given):
            note(f"  → {tool} {given}")
        case ToolResulted(harness_status=status, admitted=admitted, summary=summary):
            verdict = words("admitted", "已采纳") if admitted else words("refused", "未采纳") + f" ({status})"
            note(f"  ← {summary} · {verdict}", "dim" if admitted else "yellow")
        case AnswerDelta() | CitationMade() | RunCompleted() | RunFailed():
            return


def print_answer(answer: Answer) -> None:
    if answer.text:
        plain(answer.text)
    if answer.citations:
        out.print()
        plain(words("Sources", "来源"), "bold")
        for citation in answer.citations:
            _print_citation(citation)
    if answer.limitations:
        out.print()
        plain(words("Limitations", "局限"), "bold")
        for limitation in answer.limitations:
            plain(f"  · {limitation.text}")
    out.print()
    style = {"complete": "green", "failed": "red"}.get(answer.status, "yellow")
    plain(
        f"{answer.status} ({answer.termination_reason}) · {answer.run_id} · {answer.duration_ms / 1000:.1f} s"
        f" · {answer.usage.tool_calls} tools · {answer.usage.chat_input_tokens + answer.usage.chat_output_tokens} tokens",
        style,
    )


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


def _print_citation(citation: Citation) -> None:
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
    plain(f"      {citation.block_id} · {citation.source_label} · {citation.trust}", "dim")
    if citation.verdict == "unsupported":
        plain(f"      {words('not supported', '未获支持')}: {citation.problem or ''}", "yellow")
