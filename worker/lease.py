"""Keep an import's lease while it is worked on, and notice when the work has to stop."""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from shared.catalog.db import Database, open_database
from shared.catalog.leases import renew, standing
from shared.clock import NowMs
from shared.errors import StorageError
from shared.ids import ImportId
from worker.stages.work import Stopped

_log = logging.getLogger(__name__)
_LOOK_S = 0.5


@contextmanager
def heartbeat(catalog: Path, import_id: ImportId, worker: str, *, lease_ms: int, now_ms: NowMs) -> Generator[None]:
    """Renew the lease three times in its length, on a thread and a connection of its own."""
    ended = threading.Event()

    def beat() -> None:
        db: Database | None = None
        while not ended.wait(lease_ms / 3000):
            try:
                db = db or open_database(catalog)
                if not renew(db, import_id, worker, now_ms=now_ms(), lease_ms=lease_ms):
                    break  # it has ended, or is somebody else's: the next check sees it
            except StorageError as error:
                _log.warning("heartbeat import_id=%s missed: %s", import_id, error.message)
        if db is not None:
            db.conn.close()

    thread = threading.Thread(target=beat, name=f"heartbeat {import_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def checker(db: Database, import_id: ImportId, worker: str, stopping: threading.Event) -> Callable[[], None]:
    """A function that raises Stopped as soon as the import isn't ours to go on with."""

    def check() -> None:
        if stopping.is_set() or standing(db, import_id, worker) != "running":
            raise Stopped

    return check


def waiter(check: Callable[[], None], stopping: threading.Event) -> Callable[[float], None]:
    """A sleep that ends early, with Stopped, when the import is to stop."""

    def wait(seconds: float) -> None:
        left = seconds
        while left > 0:
            stopping.wait(min(left, _LOOK_S))
            check()
            left -= _LOOK_S

    return wait
