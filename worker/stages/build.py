"""Build a collection in a child process.

The embedded engine keeps Python's lock for as long as it optimises (34 s for 50,000 points with a graph, FACTS): in the worker's own
process no heartbeat would be sent, and the import would be taken for dead and started twice. A child has a lock of its own, can be
killed when the import is stopped, and gives its memory back.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from shared.catalog.db import open_database
from shared.embeddings.cache import EmbeddingCache
from shared.errors import CiteboundError, StorageError, UpstreamCode, UpstreamError
from shared.layout import Layout
from shared.lifeline import PARENT_PIPE, follow_parent
from shared.settings import QdrantSettings
from shared.vectors.open import open_vectors
from worker.stages.index import Abandoned, BuildCrashed, BuildJob, BuildResult, Built, Missing, Unsound, build

_ROOT = Path(__file__).resolve().parents[2]
_GUESSES: Final = {-signal.SIGBUS: " Is the disk full?", -signal.SIGKILL: " Was there too little memory?"}
_LOOK_S = 0.2  # how often it is looked whether the import is to stop


class Order(Struct, frozen=True, kw_only=True):
    job: BuildJob
    data_dir: str
    qdrant: QdrantSettings


class Broken(Struct, frozen=True, kw_only=True, tag="broken"):
    """An error of ours, to be raised again in the parent."""

    kind: Literal["storage", "upstream"]
    code: str
    message: str


Reply: TypeAlias = Built | Missing | Unsound | Abandoned | Broken
_decode = msgspec.json.Decoder(Reply).decode


class ChildBuilder:
    """Builds in a child of its own each time. Thread-safe."""

    def __init__(self, *, data_dir: str, qdrant: QdrantSettings) -> None:
        self._data_dir = data_dir
        self._qdrant = qdrant
        self._idle: list[_Child] = []
        self._turn = threading.Lock()

    @contextmanager
    def standby(self) -> Generator[None]:
        """Have a child ready inside the `with`: it starts (half a second) while its import is still being read and embedded."""
        child = _Child()
        with self._turn:
            self._idle.append(child)
        try:
            yield
        finally:
            with self._turn:
                unused = child in self._idle
                if unused:
                    self._idle.remove(child)
            if unused:
                child.end()

    def build(self, job: BuildJob, check: Callable[[], None]) -> BuildResult:
        """Build and wait; `check` may raise to end it, and the child with it.

        Raises: StorageError, UpstreamError, BuildCrashed; whatever `check` raises.
        """
        child = self._standing_by() or _Child()
        try:
            output = child.answer(
                msgspec.json.encode(Order(job=job, data_dir=self._data_dir, qdrant=self._qdrant)), check
            )
        finally:
            child.end()
        if child.status != 0:
            guess = _GUESSES.get(child.status or 0, "")
            raise BuildCrashed(f"The process that builds the collection ended with status {child.status}.{guess}")
        return _raised(_decode(output))

    def _standing_by(self) -> "_Child | None":
        while True:
            with self._turn:
                child = self._idle.pop() if self._idle else None
            if child is None or child.status is None:
                return child
            child.end()  # it died meanwhile


class _Child:
    def __init__(self) -> None:
        self._lifeline = os.pipe()  # the child ends when our end is closed, however we end
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "worker.stages.build"],
                cwd=_ROOT,
                env={**os.environ, PARENT_PIPE: str(self._lifeline[0])},
                pass_fds=(self._lifeline[0],),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # a terminal's Ctrl-C is for the worker
            )
        except BaseException:
            self._close_lifeline()
            raise

    @property
    def status(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def answer(self, order: bytes, check: Callable[[], None]) -> bytes:
        given: bytes | None = order
        while True:
            try:
                return self._process.communicate(given, timeout=_LOOK_S)[0]
            except subprocess.TimeoutExpired:
                given = None
                check()

    def end(self) -> None:
        """Nothing happens to one that has ended."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        self._close_lifeline()

    def _close_lifeline(self) -> None:
        for end in self._lifeline:
            os.close(end)


def _raised(reply: Reply) -> BuildResult:
    match reply:
        case Broken(kind="storage", message=message):
            raise StorageError(message)
        case Broken(code=code, message=message):
            raise UpstreamError(msgspec.convert(code, UpstreamCode), message)
        case Built() | Missing() | Unsound() | Abandoned():
            return reply


def _answer(order: Order) -> Reply:
    layout = Layout(Path(order.data_dir))
    try:
        db = open_database(layout.catalog)
        cache = EmbeddingCache(layout.embeddings)
        return build(order.job, db=db, cache=cache, vectors=open_vectors(order.qdrant, layout.collections))
    except StorageError as error:
        return _broken("storage", error)
    except UpstreamError as error:
        return _broken("upstream", error)


def _broken(kind: Literal["storage", "upstream"], error: CiteboundError) -> Broken:
    return Broken(kind=kind, code=error.code, message=error.message)


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not end up in the answer
    follow_parent()
    asked = sys.stdin.buffer.read()
    if not asked:  # it stood by and wasn't needed
        return
    order = msgspec.json.decode(asked, type=Order)
    with answers:
        answers.write(msgspec.json.encode(_answer(order)))


if __name__ == "__main__":
    main()
