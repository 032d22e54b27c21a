"""The process in which files are parsed: `python -m worker.parsers.child MODULE:FUNCTION`.

It may hang, eat memory, crash or print; the pool sees to that. The function takes (path, name=…), returns Parsed and
raises DocumentError. It ends when its standard input does, in the middle of a document too: no orphans.
"""

import contextlib
import importlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from shared.errors import DocumentError
from worker.parsers.types import Parsed
from worker.parsers.wire import LENGTH, Done, Job, Ready, Rejected, Reply, decode_job, frame

OFFLINE = Path(__file__).parent / "offline"
QUIET = {"SCARF_NO_ANALYTICS": "true", "DO_NOT_TRACK": "true", "UNSTRUCTURED_DISABLE_NOTICE": "true"}


def main(entry: str) -> None:
    jobs, replies = _take_over_standard_streams()
    os.environ.update(QUIET)
    sys.path.insert(0, str(OFFLINE))  # stands in for the language model that unstructured would download
    sys.addaudithook(_stay_offline)
    module, _, function = entry.partition(":")
    parse = cast("Callable[..., Parsed]", getattr(importlib.import_module(module), function))
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(jobs, inbox), daemon=True).start()
    _send(replies, Ready())
    while True:
        job = decode_job(inbox.get())
        _limit_processor_time(job.cpu_s)
        _send(replies, _answer(parse, job))


def _answer(parse: Callable[..., Parsed], job: Job) -> Reply:
    try:
        return Done(parsed=parse(Path(job.path), name=job.name))
    except DocumentError as error:
        return Rejected(code=cast("Rejected", error).code, message=error.message)
    except MemoryError:
        return Rejected(code="parse_memory", message="Reading the file needs more memory than a document may use.")
    except Exception as error:  # noqa: BLE001 - the border of the process: any failure of a parser concerns one document
        return Rejected(code="parse_crashed", message=f"The parser failed on this file: {type(error).__name__}.")


def _take_over_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for ourselves, so that a library that prints or reads does not disturb the conversation."""
    jobs, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return jobs, replies


def _read(jobs: BinaryIO, inbox: "queue.SimpleQueue[bytes]") -> None:
    while header := jobs.read(LENGTH.size):
        inbox.put(jobs.read(LENGTH.unpack(header)[0]))
    os._exit(0)


def _send(replies: BinaryIO, reply: Reply) -> None:
    replies.write(frame(reply))
    replies.flush()


def _stay_offline(event: str, _: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise PermissionError("a parser must not use the network")


def _limit_processor_time(cpu_s: int) -> None:
    with contextlib.suppress(ImportError):  # no such limits on Windows
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + cpu_s, hard))


if __name__ == "__main__":
    main(sys.argv[1])
