"""`citebound smoke`: the whole product once, for real, in a temporary folder: start, import, ask, check every citation, stop."""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import quote

from msgspec import Struct

from scripts.citebound.api import URL, Api
from scripts.citebound.commands.ask import ask_quietly, print_answer
from scripts.citebound.commands.imports import existing, print_outcome, send_paths, watch
from scripts.citebound.commands.reading import OpenedBlock
from scripts.citebound.commands.snapshots import Snapshots
from scripts.citebound.console import err, note, out, plain, print_json
from scripts.citebound.failure import FAILED, OK, CommandFailed
from scripts.citebound.supervisor.child import Child, Recipe, ending
from scripts.citebound.supervisor.instance import Instance, read_instance
from scripts.citebound.supervisor.supervise import ROOT
from shared.ids import BlockId
from shared.layout import Layout
from shared.lifeline import PARENT_PIPE
from shared.settings_load import CONFIG, config_file, load_settings
from shared.types.imports import Import
from shared.types.runs import Answer
from shared.types.snapshots import Snapshot

_START_S = 180
_STOP_S = 60  # the sum of what the supervisor gives its children


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
    """`citebound up` on the folder and a free port, until the block ends."""
    lifeline = os.pipe()
    layout = Layout(root=folder / "data")
    with _timed(timings, "start", show):
        child = Child(_recipe(layout, docs, folder / "up.log", lifeline[0]))
        try:
            instance = _await_ready(child, layout)
        except BaseException:
            child.stop(hurry=lambda: False)
            raise
    api = Api(instance.address, key=load_settings(os.environ).api.api_key)
    try:
        yield api
    finally:
        api.close()
        with _timed(timings, "stop", show):
            child.stop(hurry=lambda: False)
        for end in lifeline:
            os.close(end)


def _recipe(layout: Layout, docs: Path, log: Path, lifeline: int) -> Recipe:
    """The person's own settings, but for where the data lies, who may call and which port it is."""
    env = {name: value for name, value in os.environ.items() if name != URL}
    file = config_file(os.environ)
    if file is not None:
        env[CONFIG] = str(file)
    env |= {
        "CITEBOUND_DATA_DIR": str(layout.root),
        "CITEBOUND_API_HOST": "127.0.0.1",
        "CITEBOUND_API_PORT": "0",
        "CITEBOUND_API_IMPORT_ROOTS": str(docs),
        "PYTHONPATH": str(ROOT),
        "PYTHONSAFEPATH": "1",
        PARENT_PIPE: str(lifeline),
    }
    argv = (sys.executable, "-m", "scripts.citebound", "up")
    return Recipe(name="up", argv=argv, env=env, log=log, pass_fds=(lifeline,), grace_s=_STOP_S)


def _await_ready(child: Child, layout: Layout) -> Instance:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        code = child.exit_code()
        if code is not None:
            lines = "\n".join(child.last_lines())
            raise CommandFailed(f"it did not start ({ending(code)})", remedy=f"it said:\n{lines}", error="child_failed")
        instance = read_instance(layout)
        if instance is not None and instance.ready:
            return instance
        time.sleep(0.05)
    raise CommandFailed(
        f"it was not ready within {_START_S} s", remedy="try again on a quieter machine", error="timeout"
    )


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
