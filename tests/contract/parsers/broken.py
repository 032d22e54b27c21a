"""What a parser may do to its process. Children are told to run `misbehave`; the file's name says how."""

import ctypes
import os
import time
import urllib.request
from pathlib import Path

from shared.errors import DocumentError
from worker.parsers import Element, Parsed

FINE = Parsed(title="好", media_type="text/plain", elements=(Element(kind="paragraph", text="正文。"),))


def misbehave(path: Path, *, name: str) -> Parsed:
    match name:
        case "hang":
            time.sleep(3600)
        case "spin":
            while True:
                pass
        case "eat":
            eaten = [bytearray(16 * 1024 * 1024) for _ in range(200)]
            time.sleep(len(eaten))
        case "segfault":
            ctypes.string_at(0)
        case "exit":
            os._exit(3)
        case "raise":
            raise ZeroDivisionError
        case "memory":
            raise MemoryError
        case "reject":
            raise DocumentError("encrypted", "verschlossen")
        case "print":
            print("garbage" * 100_000, flush=True)
            os.write(1, b"\xff" * 1000)
        case "babble":  # into the very pipe that carries the answers
            for number in range(3, 20):
                try:
                    os.write(number, b"\x00\x00\x00\x02hi")
                except OSError:
                    continue
        case "online":
            urllib.request.urlopen("http://127.0.0.1:9", timeout=1)
        case "environment":
            return Parsed(title=",".join(sorted(os.environ)), media_type="", elements=FINE.elements)
        case "who":
            return Parsed(title=str(os.getpid()), media_type="", elements=FINE.elements)
        case "meet":  # returns once the other one of a pair is there too
            (path / str(os.getpid())).touch()
            while len(list(path.iterdir())) < 2:
                time.sleep(0.01)
        case _:
            pass
    return FINE
