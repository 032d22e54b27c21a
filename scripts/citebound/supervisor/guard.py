"""Runs a foreign program that can't watch our pipe: it ends when the supervisor does, however the supervisor ends.

python -m scripts.citebound.supervisor.guard PROGRAM ARGUMENTS…
"""

import signal
import subprocess
import sys
from types import FrameType

from shared.lifeline import follow_parent

GRACE_S = 10  # for the program to end by itself once asked


def main(argv: list[str]) -> int:
    program = subprocess.Popen(argv, close_fds=False)  # the folder's lock is handed on

    def stop(_signal: int, _frame: FrameType | None) -> None:
        program.terminate()
        signal.alarm(GRACE_S)

    def end(_signal: int, _frame: FrameType | None) -> None:
        program.kill()

    signal.signal(signal.SIGALRM, end)
    signal.signal(signal.SIGTERM, stop)
    follow_parent()
    code = program.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
