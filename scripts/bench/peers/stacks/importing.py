"""How a stack's import is measured. Runs in the stack's own environment; nothing of Citebound is imported.

python import_STACK.py FOLDER     request.json -> measured.json; what the stack stores goes to FOLDER/out
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

MODEL = "double"
DIMENSIONS = 384
BATCH = 64  # texts in one request, as Citebound's default


class Task:
    def __init__(self, folder: Path) -> None:
        request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
        self.documents = sorted(Path(request["documents"]).rglob("*.md"))
        self.base_url: str = request["base_url"]
        self.block_tokens: int = request["block_tokens"]
        self.out = folder / "out"
        self.out.mkdir()


def main(run: Callable[[Task], int]) -> None:
    """`run` imports everything and returns the number of blocks. What starting Python and the stack costs is not counted."""
    folder = Path(sys.argv[1])
    task = Task(folder)
    began, spent = time.monotonic(), _cpu_s()
    blocks = run(task)
    measured = {
        "blocks": blocks,
        "seconds": time.monotonic() - began,
        "cpu_s": _cpu_s() - spent,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    (folder / "measured.json").write_text(json.dumps(measured), encoding="utf-8")


def _cpu_s() -> float:
    """Of this process and those it has ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )
