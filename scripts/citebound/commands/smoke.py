"""`citebound smoke`: the whole product once, for real, in a temporary folder: start, import, ask, check every citation, stop."""

import argparse
import signal
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import quote

from msgspec import Struct

from scripts.citebound.api import Api
from scripts.citebound.commands.ask import ask_quietly, print_answer
from scripts.citebound.commands.imports import existing, print_outcome, send_paths, watch
from scripts.citebound.commands.reading import OpenedBlock
from scripts.citebound.commands.snapshots import Snapshots
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
    answer: Answer
    citations: tuple[CheckedCitation, ...]
    imported: Import
    snapshot: Snapshot | None
    timings_ms: dict[str, int]


def smoke(arguments: argparse.Namespace) -> int:
    docs = existing(arguments.docs)
    signal.signal(signal.SIGTERM, _as_interrupt)
    timings: dict[str, int] = {}
    show = not arguments.json
    with (
        tempfile.TemporaryDirectory(prefix="citebound-smoke-") as folder,
        _started(Path(folder), docs, timings, show) as api,
    ):
        with _timed(timings, "import", show):
            imported = watch(api, send_paths(api, [docs], {}).import_id, show=show and err.is_terminal)
        if imported.state != "completed":
            print_json(imported) if arguments.json else print_outcome(imported)
            raise CommandFailed("the import did not complete", remedy="see its reason above", error="import_failed")
        with _timed(timings, "ask", show):
            answer = ask_quietly(api, arguments.question)
        with _timed(timings, "verify", show):
            citations = tuple(
                checked(api, citation.marker, citation.block_id, citation.quote) for citation in answer.citations
            )
        found = next(
            (one for one in api.get("/api/snapshots", Snapshots).snapshots if one.snapshot_id == answer.snapshot_id),
            None,
        )
    report = SmokeReport(
        passed=any(citation.resolves for citation in citations),
        answer=answer,
        citations=citations,
        imported=imported,
        snapshot=found,
        timings_ms=timings,
    )
    print_json(report) if arguments.json else _print(report)
    return OK if report.passed else FAILED


def checked(api: Api, marker: int, block_id: BlockId, said: str) -> CheckedCitation:
    """Whether the block opens over HTTP and holds the quote."""
    try:
        text = api.get(f"/api/blocks/{quote(block_id, safe='')}", OpenedBlock).block.text
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
    begin = time.monotonic()
    yield
    timings[phase] = int((time.monotonic() - begin) * 1000)
    if show:
        note(f"{phase}: {timings[phase] / 1000:.2f} s")


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _print(report: SmokeReport) -> None:
    print_outcome(report.imported)
    if report.snapshot is not None:
        plain(f"snapshot {report.snapshot.snapshot_id}: {report.snapshot.state}")
    out.print()
    print_answer(report.answer)
    for citation in report.citations:
        if citation.resolves:
            plain(f"✓ [{citation.marker}] {citation.block_id} opens and contains its quote", "green")
        else:
            plain(f"✗ [{citation.marker}] {citation.block_id}: {citation.problem}", "red")
    plain("  ".join(f"{phase} {ms / 1000:.2f} s" for phase, ms in report.timings_ms.items()))
    plain("passed" if report.passed else "failed: no citation resolves", "bold green" if report.passed else "bold red")
