"""Parser children, kept warm and replaced when a file breaks them.

Each call of `parse` has a child of its own for its duration, so several worker threads parse at once and a bad file
takes nobody else down. Idle children wait in a list; there are never more of them than there were calls at one time.
"""

import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import psutil
from msgspec import MsgspecError

from shared.errors import DocumentError
from worker.parsers.types import Parsed
from worker.parsers.wire import LENGTH, MAX_FRAME_BYTES, Done, Job, Ready, Rejected, Reply, decode_reply, frame

ENTRY = "worker.parsers.parse:parse_file"
START_S = 60  # a child imports little before it is ready; this only ends a start that hangs
WATCH_S = 0.05  # how often a busy child's memory is looked at
FROZEN_S = 1.0  # between two looks no more than this counts
DOCUMENTS_PER_CHILD = 200  # libraries leak; a fresh child costs 0.1 s, and 2.5 s when it needs unstructured again
ROOT = Path(__file__).resolve().parents[2]


class ParserPool:
    """Thread-safe.

    `timeout_s`: wall time of one document. `memory_mb`: resident memory of a child; it is looked at every 50 ms, so a
    very quick eater may pass it for a moment. `entry`: the function that children run, for tests of what goes wrong.
    """

    def __init__(self, *, timeout_s: float, memory_mb: int, entry: str = ENTRY) -> None:
        self._timeout_s = timeout_s
        self._memory_bytes = memory_mb * 1024 * 1024
        self._entry = entry
        self._idle: list[_Child] = []
        self._closed = False
        self._lock = threading.Lock()

    def parse(self, path: Path, *, name: str) -> Parsed:
        """`name`: the document's name with its extension, which is only a hint; `path` may be called anything.

        Raises: DocumentError, among them parse_timeout, parse_memory, parse_crashed.
        """
        child = self._take()
        try:
            reply = child.ask(
                Job(path=str(path), name=name, cpu_s=int(self._timeout_s) + 30),
                timeout_s=self._timeout_s,
                memory_bytes=self._memory_bytes,
            )
        except BaseException:
            child.kill()
            raise
        self._give_back(child)
        match reply:
            case Done(parsed=parsed):
                return parsed
            case Rejected(code=code, message=message):
                raise DocumentError(code, message)
            case Ready():
                raise _crashed("it answered out of turn")

    def close(self) -> None:
        """End the idle children; those at work end with their document."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for child in idle:
            child.kill()

    def _take(self) -> "_Child":
        while True:
            with self._lock:
                child = self._idle.pop() if self._idle else None
            if child is None:
                return _Child(self._entry)
            if child.alive():
                return child
            child.kill()  # it ended while idle: no fault of the document at hand

    def _give_back(self, child: "_Child") -> None:
        worn = child.documents >= DOCUMENTS_PER_CHILD or child.memory_bytes() > self._memory_bytes // 2
        with self._lock:
            if not worn and not self._closed:
                self._idle.append(child)
                return
        child.kill()


class Patience:
    """How long a child may still take. Time in which this process stood still hardly counts: the child did as well, or its answer waits."""

    def __init__(self, seconds: float, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._left_s = seconds
        self._monotonic_s = monotonic_s
        self._seen_s = monotonic_s()

    def left_s(self) -> float:
        """To be asked often."""
        now_s = self._monotonic_s()
        self._left_s -= min(now_s - self._seen_s, FROZEN_S)
        self._seen_s = now_s
        return self._left_s


class _Child:
    def __init__(self, entry: str) -> None:
        self.documents = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "worker.parsers.child", entry],
            cwd=ROOT,
            env={
                key: value for key, value in os.environ.items() if not key.startswith("CITEBOUND_")
            },  # no keys in there
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a terminal's Ctrl-C is for the worker; the child ends when its pipe does
        )
        self._watched = psutil.Process(self._process.pid)
        try:
            self._receive(Patience(START_S), memory_bytes=sys.maxsize)
        except DocumentError as error:
            self.kill()
            raise RuntimeError(f"the parser process does not start ({error.message})") from error

    def ask(self, job: Job, *, timeout_s: float, memory_bytes: int) -> Reply:
        self.documents += 1
        try:
            stdin = _pipe(self._process.stdin)
            stdin.write(frame(job))
            stdin.flush()
        except BrokenPipeError:
            raise _crashed("it had ended") from None
        return self._receive(Patience(timeout_s), memory_bytes=memory_bytes)

    def alive(self) -> bool:
        return self._process.poll() is None

    def memory_bytes(self) -> int:
        try:
            return self._watched.memory_info().rss
        except psutil.Error:
            return 0  # it is ending; the pipe tells the rest

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            _close_quietly(_pipe(pipe))

    def _receive(self, patience: Patience, *, memory_bytes: int) -> Reply:
        stdout = _pipe(self._process.stdout)
        received = bytearray()
        wanted = LENGTH.size
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while True:
                if self.memory_bytes() > memory_bytes:
                    raise DocumentError("parse_memory", "Reading the file needs more memory than a document may use.")
                left = patience.left_s()
                if left <= 0:
                    raise DocumentError("parse_timeout", "Reading the file takes longer than a document may take.")
                if not selector.select(min(left, WATCH_S)):
                    continue
                piece = os.read(stdout.fileno(), 1 << 20)
                if not piece:
                    raise self._ended()
                received += piece
                if wanted == LENGTH.size and len(received) >= wanted:
                    wanted += LENGTH.unpack_from(received)[0]
                    if wanted > MAX_FRAME_BYTES:
                        raise _crashed("its answer is not one")
                if len(received) > wanted:
                    raise _crashed("it said more than was asked")
                if wanted > LENGTH.size and len(received) == wanted:
                    return _decoded(bytes(received[LENGTH.size :]))

    def _ended(self) -> DocumentError:
        self._process.wait()
        return _crashed(f"exit status {self._process.returncode}")


def _decoded(body: bytes) -> Reply:
    try:
        return decode_reply(body)
    except MsgspecError:
        raise _crashed("its answer is not one") from None


def _crashed(how: str) -> DocumentError:
    return DocumentError("parse_crashed", f"The parser process broke on this file: {how}.")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # asked for at Popen
    return pipe


def _close_quietly(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:  # closing stdin flushes what the dead child never read
        return
