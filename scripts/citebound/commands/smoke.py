"""`citebound smoke`: the whole product once, for real, in a temporary folder: start, import, ask, check every citation, stop."""

import argparse
import signal
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from msgspec import Struct

from scripts.citebound.api import Api, segment
from scripts.citebound.commands.ask import ask_quietly, print_answer, said
from scripts.citebound.commands.imports import existing, print_outcome, send_paths, watch
from scripts.citebound.commands.reading import OpenedBlock
from scripts.citebound.commands.scope import Snapshots
from scripts.citebound.console import err, note, out, plain, print_json
from scripts.citebound.failure import FAILED, OK, CommandFailed
from scripts.citebound.temporary import TemporaryInstance
from shared.ids import BlockId
from shared.types.imports import Import
from shared.types.runs import Answer
from shared.types.snapshots import Snapshot


class CheckedCitation(Struct, frozen=True, kw_only=True):
    marker: int
    block_id: BlockId
    resolves: bool  # the block, fetched over HTTP, contains the quote
    problem: str
    quote: str


class SmokeReport(Struct, frozen=True, kw_only=True):
    passed: bool  # at least one citation resolves
    answer: Answer | None  # None: the import did not complete, nothing was asked
    citations: tuple[CheckedCitation, ...]
    imported: Import
    snapshot: Snapshot | None
    timings_ms: dict[str, int]


def smoke(arguments: argparse.Namespace) -> int:
    docs, question = existing(arguments.docs), said(arguments.question, "question")
    signal.signal(signal.SIGTERM, _as_interrupt)
    timings: dict[str, int] = {}
    show = not arguments.json
    with (
        tempfile.TemporaryDirectory(prefix="citebound-smoke-") as folder,
        _started(Path(folder), docs, timings, show) as api,
    ):
        with _timed(timings, "import", show):
            imported = watch(api, send_paths(api, [docs], {}).import_id, show=show and err.is_terminal)
        if imported.state == "completed":
            report = _asked(api, question, imported, timings, show)
        else:
            report = SmokeReport(
                passed=False, answer=None, citations=(), imported=imported, snapshot=None, timings_ms=timings
            )
    print_json(report) if arguments.json else print_report(report)
    return OK if report.passed else FAILED


def _asked(api: Api, question: str, imported: Import, timings: dict[str, int], show: bool) -> SmokeReport:
    with _timed(timings, "ask", show):
        answer = ask_quietly(api, question)
    with _timed(timings, "verify", show):
        citations = tuple(
            checked(api, citation.marker, citation.block_id, citation.quote) for citation in answer.citations
        )
    there = api.get("/api/snapshots", Snapshots).snapshots
    return SmokeReport(
        passed=any(citation.resolves for citation in citations),
        answer=answer,
        citations=citations,
        imported=imported,
        snapshot=next((one for one in there if one.snapshot_id == answer.snapshot_id), None),
        timings_ms=timings,  # `stop` is added when it has stopped
    )


def checked(api: Api, marker: int, block_id: BlockId, said: str) -> CheckedCitation:
    """Whether the block opens over HTTP and holds the quote."""
    try:
        text = api.get(f"/api/blocks/{segment(block_id)}", OpenedBlock).block.text
        problem = "" if said.strip() and said in text else "the block does not contain the quote"
    except CommandFailed as failed:
        problem = failed.message
    return CheckedCitation(marker=marker, block_id=block_id, resolves=not problem, problem=problem, quote=said)


@contextmanager
def _started(folder: Path, docs: Path, timings: dict[str, int], show: bool) -> Generator[Api]:
    instance = TemporaryInstance(folder, roots=[docs])
    with _timed(timings, "start", show):
        api = instance.start()
    try:
        yield api
    finally:
        with _timed(timings, "stop", show):
            instance.stop()


@contextmanager
def _timed(timings: dict[str, int], phase: str, show: bool) -> Generator[None]:
    if show:
        note(f"{phase} …")
    begin = time.monotonic()
    yield
    timings[phase] = int((time.monotonic() - begin) * 1000)


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def print_report(report: SmokeReport) -> None:
    print_outcome(report.imported)
    if report.snapshot is not None:
        plain(f"snapshot {report.snapshot.snapshot_id}: {report.snapshot.state}")
    out.print()
    if report.answer is not None:
        print_answer(report.answer, None)
    for citation in report.citations:
        if citation.resolves:
            plain(f"✓ [{citation.marker}] {citation.block_id} opens and contains its quote", "green")
        else:
            plain(f"✗ [{citation.marker}] {citation.block_id}: {citation.problem}", "red")
    plain("  ".join(f"{phase} {ms / 1000:.2f} s" for phase, ms in report.timings_ms.items()))
    plain(verdict(report), "bold green" if report.passed else "bold red")


def verdict(report: SmokeReport) -> str:
    if report.passed:
        return "passed"
    if report.answer is None:
        return "failed: the import did not complete"
    if not report.citations:
        return f"failed: nothing was answered ({report.answer.status})"
    return "failed: no citation resolves"
