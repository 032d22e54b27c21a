"""One data folder with its processes, and what must be true of it when all is over."""

import os
import signal
import socket
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path

from sqlite_utils import Database

from scripts.citebound.supervisor import broker
from shared.catalog.building import orphaned_snapshots
from shared.catalog.db import open_database
from shared.catalog.imports import create_import, get_import, resume, retry
from shared.catalog.items import list_items
from shared.catalog.migrations import migrate
from shared.catalog.retention import removing
from shared.catalog.snapshots import active_snapshot_id, list_snapshots
from shared.clock import now_ms
from shared.ids import ImportId, SnapshotId
from shared.layout import Layout
from shared.settings import QdrantSettings
from shared.types.imports import Import, ImportRequest
from shared.vectors.open import open_vectors
from tests.e2e.processes import until
from tests.faults.library import BATCH, BLOCK_MAX_TOKENS, BLOCK_TOKENS, DIMENSIONS
from tests.faults.picture import Picture, differing, picture
from tests.faults.processes import BOUND_S, SITE, Lifeline, Part, processes_of
from worker.stages.publish import drop_unfinished

LEASE_MS = 3_000
MODEL = "double"
KEY = "sk-double"
ENDED = ("completed", "failed", "cancelled")


class Broker:
    """A real Valkey; killed, it starts again on its file."""

    def __init__(self, folder: Path, lifeline: Lifeline) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._lifeline = lifeline
        self._socket = broker.socket_path(folder)
        self._part: Part | None = None
        self.start()

    def start(self) -> None:
        broker.prepare_socket(self._socket)
        serve = [*broker.arguments(broker.server_binary(), self._folder, self._socket), "--databases", "1000"]
        env = {**plain_environment(), SITE: "broker"}
        log = self._folder / "broker.log"
        self._part = Part("scripts.citebound.supervisor.guard", *serve, env=env, log=log, lifeline=self._lifeline)
        until("the broker answers", lambda: broker.answers(self._socket), seconds=BOUND_S)

    def url(self, database: int) -> str:
        return f"unix://{self._socket}?db={database}"

    def kill(self) -> None:
        """The server and its guard, both at once."""
        part = self._running()
        os.killpg(part.pid, signal.SIGKILL)
        part.await_exit()

    def close(self) -> None:
        part = self._running()
        part.send(signal.SIGTERM)
        part.await_exit()
        broker.clear_socket(self._socket, self._folder)

    def _running(self) -> Part:
        assert self._part is not None
        return self._part


class Site:
    """`folder` holds the data, `logs` what its processes say. `base_url`: of the provider that embeds. Its imports read `library`."""

    def __init__(self, folder: Path, *, logs: Path, library: Path, base_url: str, broker_url: str) -> None:
        self.layout = Layout(root=folder)
        self.layout.create()
        self.library = library
        self.name = uuid.uuid4().hex
        logs.mkdir()
        self._logs = logs
        self._lifeline = Lifeline()
        self._parts: list[Part] = []
        self.env = {
            **plain_environment(),
            SITE: self.name,
            "CITEBOUND_DATA_DIR": str(folder),
            "CITEBOUND_BROKER_URL": broker_url,
            "CITEBOUND_EMBEDDING_PROVIDER": "openai",
            "CITEBOUND_EMBEDDING_BASE_URL": base_url,
            "CITEBOUND_EMBEDDING_MODEL": MODEL,
            "CITEBOUND_EMBEDDING_API_KEY": KEY,
            "CITEBOUND_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
            "CITEBOUND_EMBEDDING_BATCH": str(BATCH),
            "CITEBOUND_WORKER_BLOCK_TOKENS": str(BLOCK_TOKENS),
            "CITEBOUND_WORKER_BLOCK_MAX_TOKENS": str(BLOCK_MAX_TOKENS),
            "CITEBOUND_WORKER_LEASE_MS": str(LEASE_MS),
            "CITEBOUND_API_IMPORT_ROOTS": str(library),
        }
        self.db: Database = open_database(self.layout.catalog)
        migrate(self.db)

    def worker(self, *, fault: str | None = None, clock: Path | None = None, **settings: str) -> Part:
        """`fault`: where it stops itself, e.g. "embed:stored@2". clock: see clocked.py. settings: more of the environment."""
        env = {**self.env, **settings} | ({} if fault is None else {"CITEBOUND_FAULT": fault})
        if clock is None:
            return self._start("worker", env=env)
        return self._start("tests.faults.clocked", "worker", env={**env, "CITEBOUND_TEST_CLOCK": str(clock)})

    def api(self, listening: socket.socket) -> Part:
        """The socket stays the test's own: nobody takes its port, and what connects waits until somebody answers."""
        number = listening.fileno()
        return self._start("api", "--fd", str(number), env=self.env, pass_fds=(number,))

    def ask(self, request: ImportRequest | None = None) -> ImportId:
        """Accept an import of the whole library; the next worker's reconciler finds it."""
        wanted = request or ImportRequest(paths=(str(self.library),))
        return create_import(self.db, wanted, now_ms=now_ms())

    def look(self, import_id: ImportId) -> Import:
        return get_import(self.db, import_id, now_ms=now_ms())

    def resume(self, import_id: ImportId) -> None:
        resume(self.db, import_id, now_ms=now_ms())

    def retry(self, import_id: ImportId) -> None:
        retry(self.db, import_id, now_ms=now_ms())

    def await_state(self, import_id: ImportId, *states: str) -> Import:
        def there() -> bool:
            seen = self.look(import_id)
            assert seen.state in states or seen.state not in ENDED, seen
            return seen.state in states

        until(f"{import_id} is {states}", there, seconds=BOUND_S)
        return self.look(import_id)

    def lease_is_free(self, import_id: ImportId) -> bool:
        row = self.db.conn.execute("select lease_until_ms from imports where import_id = ?", [import_id]).fetchone()
        return row[0] == 0

    def holder(self, import_id: ImportId) -> str | None:
        """Who has its lease."""
        row = self.db.conn.execute("select lease_holder from imports where import_id = ?", [import_id]).fetchone()
        return None if row[0] is None else str(row[0])

    def wakes_in_s(self, import_id: ImportId) -> float | None:
        """When a pause ends by itself; None = when somebody ends it."""
        row = self.db.conn.execute("select wake_at_ms from imports where import_id = ?", [import_id]).fetchone()
        return None if row[0] is None else (row[0] - now_ms()) / 1000

    def picture(self, snapshot_id: SnapshotId | None = None) -> Picture:
        """None = of the active snapshot."""
        wanted = snapshot_id or active_snapshot_id(self.db)
        assert wanted is not None
        return picture(self.db, self.layout, wanted)

    def check_sound(self, import_id: ImportId, undisturbed: Picture, *, after: SnapshotId | None = None) -> None:
        """The import is complete, its snapshot is what an undisturbed import makes, and nothing else is left of the fault.

        after: the snapshot that was active before.
        """
        done = self.look(import_id)
        assert (done.state, done.stage) == ("completed", "publish"), done
        assert done.progress.blocks_embedded == done.progress.blocks, done.progress
        states = {item.state for item in list_items(self.db, import_id)}
        assert states <= {"indexed", "failed"}, states
        moves = self.db.conn.execute("select snapshot_id, previous_id from active_history").fetchall()
        before = [] if after is None else [(after, None)]
        assert moves == [*before, (done.snapshot_id, after)], moves
        assert active_snapshot_id(self.db) == done.snapshot_id
        differences = differing(self.picture(), undisturbed)
        assert not differences, differences
        there = [snapshot for snapshot in (done.snapshot_id, after) if snapshot]
        self._sweep(there)
        assert [snapshot.snapshot_id for snapshot in list_snapshots(self.db)] == there
        assert self.db.conn.execute("pragma integrity_check").fetchone() == ("ok",)
        assert self.db.conn.execute("pragma foreign_key_check").fetchall() == []

    def close(self) -> None:
        """Ends what still runs; fails when a process has escaped the test's hand."""
        for part in self._parts:
            part.close()
        self._lifeline.close()
        self.db.conn.close()
        until(f"no process of {self.layout.root} is left", lambda: not processes_of(self.name), seconds=30)

    def _sweep(self, kept: list[SnapshotId]) -> None:
        """As workers do every other second: what was begun and never published goes, to the last file."""
        vectors = open_vectors(QdrantSettings(), self.layout.collections)
        drop_unfinished(self.db, [*orphaned_snapshots(self.db), *removing(self.db)], vectors, now_ms=now_ms())
        assert sorted(vectors.names()) == sorted(kept), (vectors.names(), kept)
        assert vectors.unfinished() == []

    def _start(self, module: str, *arguments: str, env: Mapping[str, str], pass_fds: tuple[int, ...] = ()) -> Part:
        log = self._logs / f"{len(self._parts)}-{module}.log"
        part = Part(module, *arguments, env=env, log=log, lifeline=self._lifeline, pass_fds=pass_fds)
        self._parts.append(part)
        return part


def plain_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CITEBOUND_")}
    return {**kept, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "PYTHONUNBUFFERED": "1"}


def mount_small_disk(folder: Path, *, size_mb: int) -> bool:
    """A tmpfs at `folder`; False where this user may not mount one."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m,mode=700", "faults", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def unmount(folder: Path) -> None:
    subprocess.run(["umount", str(folder)], check=True)
