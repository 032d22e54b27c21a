"""What a worker stands on gives way: broker, API, disk, catalog."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from scripts.citebound.doctor.check import Check
from scripts.citebound.supervisor.instance import is_alive, read_instance
from scripts.citebound.temporary import TemporaryInstance
from shared.errors import StorageError
from shared.layout import Layout
from shared.settings import QdrantSettings
from shared.types.imports import Import
from shared.vectors.open import open_vectors
from tests.e2e.processes import until
from tests.faults.library import DIMENSIONS
from tests.faults.processes import BOUND_S, ROOT, Lifeline, Part, go_on
from tests.faults.site import Broker, mount_small_disk, plain_environment, unmount
from tests.faults.world import World
from tests.promises import promise

pytestmark = [pytest.mark.slow, pytest.mark.beside, pytest.mark.timeout(1200)]

DISK_MB = 96


@contextmanager
def a_broker(world: World) -> Generator[Broker]:
    lifeline = Lifeline()
    broker = Broker(world.new_folder(), lifeline)
    try:
        yield broker
    finally:
        broker.close()
        lifeline.close()


@promise("P9")
@pytest.mark.parametrize("point", ["discover:begins", "embed:stored@2", "publish:begins"])
def test_a_broker_killed_and_restarted_on_its_file_holds_no_import_up(world: World, point: str) -> None:
    with a_broker(world) as broker, world.bench(broker=broker) as bench:
        import_id = bench.site.ask()
        worker = bench.site.worker(fault=point)
        worker.await_stopped()
        broker.kill()
        worker.go_on()
        done = bench.site.await_state(import_id, "completed")  # it doesn't need the broker any more
        broker.start()
        assert worker.ask_to_stop() == 0
        assert done.failed_documents[0].key == "空.txt"
        world.conclude(bench, import_id, fault="broker SIGKILL", where=point, batches=0)


@promise("P9")
@pytest.mark.patient
def test_an_import_accepted_while_the_broker_is_away_begins_when_it_is_back(world: World) -> None:
    with a_broker(world) as broker, world.bench(broker=broker) as bench:
        worker = bench.site.worker()
        worker.await_words("worker ready")
        broker.kill()
        import_id = bench.site.ask()
        worker.await_words("reconciler code=upstream_unavailable")
        broker.start()
        bench.site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="broker SIGKILL", where="before the import", batches=0)


@promise("P9")
def test_an_api_killed_while_its_import_runs_finds_it_finished(world: World) -> None:
    with world.bench() as bench, client() as http, listening() as (line, port):
        site = bench.site
        first = site.api(line)
        await_api(first, http, port)
        accepted = http.post(f"http://127.0.0.1:{port}/api/imports/", json={"paths": [str(world.library)]})
        assert accepted.status_code == 202, accepted.text
        import_id = msgspec.json.decode(accepted.content, type=Import).import_id
        worker = site.worker(fault="embed:stored@2")
        worker.await_stopped()
        first.kill()
        worker.go_on()
        site.await_state(import_id, "completed")
        second = site.api(line)
        await_api(second, http, port)
        seen = http.get(f"http://127.0.0.1:{port}/api/imports/{import_id}")
        assert msgspec.json.decode(seen.content, type=Import) == site.look(import_id)
        found = http.post(f"http://127.0.0.1:{port}/api/tools/scan_term", json={"term": "P-1042"})
        assert "0.8 bar" in found.text
        assert (second.ask_to_stop(), worker.ask_to_stop()) == (0, 0)
        assert site.layout.traces.exists()
        world.conclude(bench, import_id, fault="API SIGKILL", where="embed:stored@2", batches=1)


@promise("P9")
def test_an_api_killed_in_the_middle_of_an_upload_has_accepted_nothing(world: World) -> None:
    with world.bench() as bench, client() as http, listening() as (line, port):
        api = bench.site.api(line)
        await_api(api, http, port)
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(HALF_AN_UPLOAD)
            incoming = bench.site.layout.originals / "incoming"
            until("the upload has begun", lambda: incoming.is_dir() and any(incoming.iterdir()), seconds=BOUND_S)
            api.kill()
        import_id = bench.site.ask()
        worker = bench.site.worker()
        bench.site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        assert bench.site.db.conn.execute("select count(*) from imports").fetchone() == (1,)
        world.conclude(bench, import_id, fault="API SIGKILL", where="upload", batches=0)


@promise("P9")
@pytest.mark.patient
@pytest.mark.parametrize(
    "point", ["discover:begins", "parse:begins", "chunk:begins", "embed:begins", "index:begins", "publish:begins"]
)
def test_a_full_disk_costs_no_document_and_the_import_goes_on_when_there_is_room(world: World, point: str) -> None:
    with small_disk(world) as folder, world.bench(folder=folder / "data") as bench:
        import_id = bench.site.ask()
        worker = bench.site.worker(fault=point)
        worker.await_stopped()
        filler = folder / "filler"
        fill(filler)
        worker.go_on()
        reason = bench.site.await_state(import_id, "paused").pause_reason or ""
        assert "full" in reason
        filler.unlink()
        bench.site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="disk full", where=point, result="paused, equal")


@promise("P9")
@pytest.mark.patient
@pytest.mark.parametrize("point", ["index:added", "seal:sealed"])
def test_a_disk_that_fills_up_under_a_builder_costs_no_more_than_the_collection(world: World, point: str) -> None:
    with small_disk(world) as folder, world.bench(folder=folder / "data") as bench:
        import_id = bench.site.ask()
        worker = bench.site.worker(fault=point)
        builder = worker.await_stopped()
        filler = folder / "filler"
        fill(filler)
        go_on(builder)
        reason = bench.site.await_state(import_id, "paused").pause_reason or ""
        assert "disk" in reason, worker.log.read_text()
        assert "full" in reason
        filler.unlink()
        worker.kill()  # armed: its next builder would stop as well
        second = bench.site.worker()
        bench.site.resume(import_id)
        bench.site.await_state(import_id, "completed")
        assert second.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="disk full", where=point, result="paused, equal", batches=0)


def test_an_instance_outlives_a_full_disk_and_the_death_of_a_part_on_it(world: World) -> None:
    folder = world.new_folder()
    with small_disk(world, folder / "data") as disk, world.bench() as bench:
        instance = TemporaryInstance(
            folder, roots=[], settings={**PROVIDED, "CITEBOUND_EMBEDDING_BASE_URL": bench.provider.base_url}
        )
        instance.start()
        try:
            filler = disk / "filler"
            fill(filler)
            killed = child_of(instance, "worker")
            os.kill(killed, signal.SIGKILL)
            until(
                "it is said that there is no room",
                lambda: "it is tried again" in (folder / "up.log").read_text(),
                seconds=BOUND_S,
            )
            filler.unlink()
            until("another worker is noted", lambda: child_of(instance, "worker") != killed, seconds=BOUND_S)
            assert is_alive(child_of(instance, "worker"))
        finally:
            instance.stop()


def test_on_a_full_disk_the_doctor_advises_nobody_to_move_the_catalog_away(world: World) -> None:
    with small_disk(world) as folder:
        Layout(root=folder).catalog.write_bytes("不是数据库".encode() * 100)
        command = [sys.executable, "-m", "scripts.citebound", "doctor", "--json"]
        env = {**plain_environment(), "CITEBOUND_DATA_DIR": str(folder)}
        said = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, check=False, timeout=BOUND_S).stdout
        checks = {check.name: check for check in msgspec.json.decode(said, type=list[Check])}
        assert (checks["disk"].state, checks["catalog"].state) == ("broken", "broken")
        assert checks["catalog"].remedy == "make room, then look again: ./scripts/run doctor"


def test_a_full_disk_keeps_a_collection_from_being_opened_and_is_not_taken_for_damage(world: World) -> None:
    with small_disk(world) as folder:
        vectors = open_vectors(QdrantSettings(), folder / "collections")
        files = vectors.build("snap_1", dimensions=3).seal()
        filler = folder / "filler"
        fill(filler)
        with pytest.raises(StorageError):
            vectors.open("snap_1", files=files)
        filler.unlink()
        vectors.open("snap_1", files=files).close()


@promise("P9")
@pytest.mark.patient
@pytest.mark.parametrize("point", ["discover:stored@3", "chunk:begins", "embed:bought@2", "publish:begins"])
def test_a_catalog_locked_for_longer_than_anybody_waits_costs_nothing(world: World, point: str) -> None:
    with world.bench() as bench:
        import_id = bench.site.ask()
        worker = bench.site.worker(fault=point)
        where = worker.await_stopped()
        with locked(bench.site.layout.catalog), locked(bench.site.layout.embeddings):
            go_on(where)
            worker.await_words("can't be written")
        bench.site.await_state(import_id, "completed")
        assert worker.ask_to_stop() == 0
        world.conclude(bench, import_id, fault="catalog and vectors locked", where=point, result="waited, equal")


PROVIDED = {
    "CITEBOUND_EMBEDDING_PROVIDER": "openai",
    "CITEBOUND_EMBEDDING_MODEL": "double",
    "CITEBOUND_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
}


def child_of(instance: TemporaryInstance, name: str) -> int:
    noted = read_instance(instance.layout)
    assert noted is not None
    return noted.children[name]


@contextmanager
def small_disk(world: World, place: Path | None = None) -> Generator[Path]:
    folder = place or world.new_folder()
    if not mount_small_disk(folder, size_mb=DISK_MB):
        pytest.skip("a small disk can't be mounted here (needs root and tmpfs): what a full one does stays unproven")
    try:
        yield folder
    finally:
        unmount(folder)


def fill(path: Path) -> None:
    """Until not one more byte fits."""
    piece = 1 << 20
    with path.open("wb", buffering=0) as file:
        while piece:
            try:
                file.write(b"\0" * piece)
            except OSError:
                piece //= 2


@contextmanager
def locked(database: Path) -> Generator[None]:
    """By another writer in the middle of a transaction."""
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("begin immediate")
    try:
        yield
    finally:
        other.execute("rollback")
        other.close()


HALF_AN_UPLOAD = (
    b"POST /api/imports/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    b"Content-Length: 1000000\r\n\r\n"
    b'--x\r\nContent-Disposition: form-data; name="files"; filename="half.md"\r\n\r\n' + "水泵".encode() * 100_000
)


@contextmanager
def client() -> Generator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=BOUND_S) as http:
        yield http


@contextmanager
def listening() -> Generator[tuple[socket.socket, int]]:
    """A socket for an API, and its port."""
    with socket.create_server(("127.0.0.1", 0)) as line:
        yield line, int(line.getsockname()[1])


def await_api(api: Part, http: httpx.Client, port: int) -> None:
    def answers() -> bool:
        assert api.runs(), api.log.read_text()
        try:
            return http.get(f"http://127.0.0.1:{port}/healthz").is_success
        except httpx.TransportError:
            return False

    until("the API answers", answers, seconds=BOUND_S)
