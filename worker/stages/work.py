"""What every stage is given, and how one ends early."""

from collections.abc import Callable

from msgspec import Struct

from shared.blobs import Blobs
from shared.catalog.db import Database
from shared.clock import NowMs
from shared.ids import ImportId


class Work(Struct, frozen=True, kw_only=True):
    """One import in the hands of one worker."""

    import_id: ImportId
    worker: str  # holder of the lease
    db: Database  # the catalog, this thread's own connection
    blobs: Blobs
    check: Callable[[], None]  # called between two units; raises Stopped
    now_ms: NowMs


class Stopped(Exception):
    """The import is to stop here: it was asked to, its lease is somebody else's, or the worker ends. Nothing is lost."""


class ImportFailed(Exception):
    """This import can't give a usable snapshot. `code` is contract."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
