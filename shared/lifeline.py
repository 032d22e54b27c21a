"""A child process that ends when its parent does, however the parent ends.

The parent keeps the write end of a pipe; the kernel closes it even after SIGKILL, and the child's read returns.
"""

import os
import signal
import threading

PARENT_PIPE = "CITEBOUND_PARENT_PIPE"  # number of the inherited read end
START_AGAIN = 75  # exit code of a child that wants to be started again, with the settings as they are by then


def follow_parent() -> None:
    """Ask this process to stop (SIGTERM) once the parent's end of the pipe is gone; nothing happens without the variable."""
    number = os.environ.get(PARENT_PIPE)
    if number is not None:
        threading.Thread(target=_wait, args=(int(number),), name="lifeline", daemon=True).start()


def _wait(pipe: int) -> None:
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
