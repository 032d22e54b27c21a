"""Build a collection in a child process.

The embedded engine keeps Python's lock for as long as it optimises (34 s for 50,000 points with a graph, FACTS): in the worker's own
process no heartbeat would be sent, and the import would be taken for dead and started twice. A child has a lock of its own, can be
killed when the import is stopped, and gives its memory back.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from shared.catalog.db import open_database
from shared.embeddings.cache import EmbeddingCache
from shared.errors import CiteboundError, StorageError, UpstreamCode, UpstreamError
from shared.layout import Layout
from shared.lifeline import PARENT_PIPE, follow_parent
from shared.settings import QdrantSettings
from shared.vectors.open import open_vectors
from worker.stages.index import BuildCrashed, BuildJob, BuildResult, Built, Missing, Unsound, build

_ROOT = Path(__file__).resolve().parents[2]
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


Reply: TypeAlias = Built | Missing | Unsound | Broken
_decode = msgspec.json.Decoder(Reply).decode


def build_in_child(order: Order, check: Callable[[], None]) -> BuildResult:
    """Build and wait; `check` may raise to end it, and the child with it.

    Raises: StorageError, UpstreamError, BuildCrashed; whatever `check` raises.
    """
    read_end, write_end = os.pipe()  # the child ends when ours is closed, however we end
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "worker.stages.build"],
            cwd=_ROOT,
            env={**os.environ, PARENT_PIPE: str(read_end)},
            pass_fds=(read_end,),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # a terminal's Ctrl-C is for the worker
        ) as process:
            try:
                output = _communicate(process, msgspec.json.encode(order), check)
            finally:
                process.kill()  # nothing happens to one that has ended
    finally:
        os.close(read_end)
        os.close(write_end)
    if process.returncode != 0:
        raise BuildCrashed(f"The process that builds the collection ended with status {process.returncode}.")
    return _raised(_decode(output))


def _communicate(process: subprocess.Popen[bytes], order: bytes, check: Callable[[], None]) -> bytes:
    given: bytes | None = order
    while True:
        try:
            return process.communicate(given, timeout=_LOOK_S)[0]
        except subprocess.TimeoutExpired:
            given = None
            check()


def _raised(reply: Reply) -> BuildResult:
    match reply:
        case Broken(kind="storage", message=message):
            raise StorageError(message)
        case Broken(code=code, message=message):
            raise UpstreamError(msgspec.convert(code, UpstreamCode), message)
        case Built() | Missing() | Unsound():
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
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    with answers:
        answers.write(msgspec.json.encode(_answer(order)))


if __name__ == "__main__":
    main()
