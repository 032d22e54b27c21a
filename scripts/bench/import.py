"""How an import grows: made-up documents through a whole Citebound, with a provider double as a fast embedder over HTTP.

    .venv/bin/python -m scripts.bench.import [--blocks 10,100,1000,10000] [--full] [--json]
For each size, in a data folder of its own: the first import, then the folder again with nothing changed, with one document changed, and
that document changed again and imported by itself. Times are the import's own (accepted to published) and its worker's log; memory and
processor time are sampled.
"""

import argparse
import json
import re
import tempfile
import threading
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from scripts.bench.doubles import provider_process
from scripts.bench.library import BLOCKS_PER_DOCUMENT, Library
from scripts.citebound.api import Api
from scripts.citebound.commands.imports import send_paths, watch
from scripts.citebound.supervisor.instance import read_instance
from scripts.citebound.temporary import TemporaryInstance
from shared.catalog.db import open_database
from shared.catalog.snapshots import get_manifest
from shared.types.imports import Import
from shared.types.snapshots import SnapshotManifest, Stage
from tests.doubles.provider import Plan

SIZES = (10, 100, 1_000, 10_000)
FULL = 100_000
DIMENSIONS = 384  # of the bundled model
STAGES: Final[tuple[Stage, ...]] = ("discover", "parse", "chunk", "embed", "index", "seal", "publish")
_SAMPLE_S = 0.02
_ROLES = {"worker.stages.build": "builder", "worker.parsers.child": "parser"}
_STAGE_LINE = re.compile(r"import_id=(\S+) stage=(\w+) done ms=(\d+)")


class Row(Struct, frozen=True, kw_only=True):
    """One import."""

    blocks: int  # in the knowledge base
    what: str
    seconds: float
    blocks_per_s: float | None  # None where it isn't about all blocks
    stage_ms: dict[str, int]
    build_ms: dict[str, int]  # parts of the stage index; {} when nothing was built
    memory_mb: dict[str, int]  # peak by process
    cpu_s: float  # of the worker, its parsers and builders: what other programs on the machine don't change


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=lambda text: tuple(int(size) for size in text.split(",")), default=SIZES)
    parser.add_argument("--full", action="store_true", help=f"also {FULL} blocks: some minutes")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows: list[Row] = []
    for blocks in (*asked.blocks, FULL) if asked.full else asked.blocks:
        with tempfile.TemporaryDirectory(prefix="citebound-bench-") as folder:
            rows += measure(Path(folder), blocks)
    print(json.dumps([structs.asdict(row) for row in rows]) if asked.json else "", end="")
    if not asked.json:
        show(rows)


def measure(folder: Path, blocks: int) -> list[Row]:
    library = Library(folder / "docs")
    library.write(blocks)
    in_last = (blocks - 1) % BLOCKS_PER_DOCUMENT + 1
    last = (blocks - 1) // BLOCKS_PER_DOCUMENT
    with provider_process(Plan(quick_vectors=True)) as base_url:
        instance = TemporaryInstance(folder, roots=[library.folder], settings=_settings(base_url))
        try:
            bench = _Bench(instance, instance.start())
            first = bench.run("first import", [library.folder], blocks=blocks, all_blocks=True)
            again = bench.run("nothing changed", [library.folder], blocks=blocks)
            library.write_document(last, in_last)
            changed = bench.run("one document changed, whole folder", [library.folder], blocks=blocks)
            path = library.write_document(last, in_last)
            alone = bench.run("one document changed, only it", [path], blocks=blocks)
            return [first, again, changed, alone]
        finally:
            instance.stop()


def show(rows: Sequence[Row]) -> None:
    table = Table(*("blocks", "import", "s", "blocks/s", *STAGES, "CPU s", "worker MB", "builder MB", "parser MB"))
    for row in rows:
        rate = "" if row.blocks_per_s is None else f"{row.blocks_per_s:.0f}"
        stages = (f"{row.stage_ms.get(stage, 0)}" for stage in STAGES)
        memory = (f"{row.memory_mb.get(role, 0)}" for role in ("worker", "builder", "parser"))
        table.add_row(f"{row.blocks}", row.what, f"{row.seconds:.2f}", rate, *stages, f"{row.cpu_s:.2f}", *memory)
    console = Console(width=200)
    console.print(table)
    console.print("stages in ms; inside index: " + "; ".join(f"{row.blocks} {row.what} {row.build_ms}" for row in rows))


class _Bench:
    def __init__(self, instance: TemporaryInstance, api: Api) -> None:
        self._instance = instance
        self._api = api

    def run(self, what: str, paths: Sequence[Path], *, blocks: int, all_blocks: bool = False) -> Row:
        running = read_instance(self._instance.layout)
        assert running is not None
        with _watched(running.children["worker"]) as usage:
            done = watch(self._api, send_paths(self._api, paths, {}).import_id, show=False)
        if done.state != "completed" or done.finished_at_ms is None:
            raise RuntimeError(f"{what} of {blocks} blocks: {done.state}, {done.pause_reason or done.failure_reason}")
        seconds = (done.finished_at_ms - done.created_at_ms) / 1000
        return Row(
            blocks=self._manifest(done).blocks,
            what=what,
            seconds=seconds,
            blocks_per_s=done.progress.blocks / seconds if all_blocks else None,
            stage_ms=self._stage_ms(done),
            build_ms=self._manifest(done).build_ms if what != "nothing changed" else {},
            memory_mb=dict(usage.memory_mb),
            cpu_s=round(usage.cpu_s(), 2),
        )

    def _manifest(self, done: Import) -> SnapshotManifest:
        assert done.snapshot_id is not None
        catalog = open_database(self._instance.layout.catalog)
        try:
            return get_manifest(catalog, done.snapshot_id)
        finally:
            catalog.conn.close()

    def _stage_ms(self, done: Import) -> dict[str, int]:
        spent: dict[str, int] = defaultdict(int)
        log = (self._instance.layout.logs / "worker.log").read_text(encoding="utf-8")
        for import_id, stage, ms in _STAGE_LINE.findall(log):
            if import_id == done.import_id:
                spent[stage] += int(ms)
        return dict(spent)


class _Usage:
    """Of a worker and everything it starts."""

    def __init__(self, worker: int) -> None:
        self.memory_mb: dict[str, int] = defaultdict(int)  # peak, the largest of its kind
        self._worker = psutil.Process(worker)
        self._first: dict[int, float] = {}
        self._last: dict[int, float] = {}
        self.sample(new_begins_at=None)

    def sample(self, *, new_begins_at: float | None = 0.0) -> None:
        """new_begins_at: processor time that a process seen for the first time counts from; None = from now."""
        for process in (self._worker, *self._worker.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                role = "worker" if process.pid == self._worker.pid else _role(process.cmdline())
                self.memory_mb[role] = max(self.memory_mb[role], process.memory_info().rss // 2**20)
                times = process.cpu_times()
                spent = times.user + times.system
                self._first.setdefault(process.pid, spent if new_begins_at is None else new_begins_at)
                self._last[process.pid] = spent

    def cpu_s(self) -> float:
        return sum(self._last.values()) - sum(self._first.values())


@contextmanager
def _watched(worker: int) -> Generator[_Usage]:
    usage, ended = _Usage(worker), threading.Event()

    def sample() -> None:
        while not ended.wait(_SAMPLE_S):
            usage.sample()

    thread = threading.Thread(target=sample, name="usage")
    thread.start()
    try:
        yield usage
    finally:
        ended.set()
        thread.join()
        usage.sample()


def _role(arguments: Sequence[str]) -> str:
    return next((role for module, role in _ROLES.items() if module in arguments), "other")


def _settings(base_url: str) -> dict[str, str]:
    return {
        "CITEBOUND_EMBEDDING_PROVIDER": "openai",
        "CITEBOUND_EMBEDDING_BASE_URL": base_url,
        "CITEBOUND_EMBEDDING_MODEL": "double",
        "CITEBOUND_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
    }


if __name__ == "__main__":
    main()
