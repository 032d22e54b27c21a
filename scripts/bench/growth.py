"""One import after another through a whole Citebound, in processes of their own, watched: time by stage, memory, processor time."""

import re
import threading
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil
from msgspec import Struct

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


def measure(folder: Path, blocks: int) -> list[Row]:
    library = Library(folder / "docs")
    library.write(blocks)
    in_last = (blocks - 1) % BLOCKS_PER_DOCUMENT + 1
    last = (blocks - 1) // BLOCKS_PER_DOCUMENT
    with provider_process(Plan(quick_vectors=True)) as base_url:
        instance = TemporaryInstance(folder, roots=[library.folder], settings=settings_for(base_url))
        try:
            bench = Bench(instance, instance.start())
            first = bench.run("first import", [library.folder], blocks=blocks, all_blocks=True)
            again = bench.run("nothing changed", [library.folder], blocks=blocks)
            library.write_document(last, in_last)
            changed = bench.run("one document changed, whole folder", [library.folder], blocks=blocks)
            path = library.write_document(last, in_last)
            alone = bench.run("one document changed, only it", [path], blocks=blocks)
            return [first, again, changed, alone]
        finally:
            instance.stop()


class Bench:
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


def settings_for(base_url: str) -> dict[str, str]:
    return {
        "CITEBOUND_EMBEDDING_PROVIDER": "openai",
        "CITEBOUND_EMBEDDING_BASE_URL": base_url,
        "CITEBOUND_EMBEDDING_MODEL": "double",
        "CITEBOUND_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
    }
