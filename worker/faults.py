"""Stop at a named point, so that a test can do there what it likes to this process, its broker, its disk.

CITEBOUND_FAULT="embed:stored" stops the process (SIGSTOP) the first time that point is reached, "embed:stored@3" the third time.
Never set outside tests; then a point costs one look into the environment.
"""

import os
import signal
import threading
from collections import Counter

_reached: Counter[str] = Counter()


def fault_point(name: str) -> None:
    """`name`: "stage:point"."""
    armed = os.environ.get("CITEBOUND_FAULT")
    if armed is None:
        return
    point, _, count = armed.partition("@")
    if point == name:
        _reached[name] += 1
        if _reached[name] == int(count or 1):
            # to this very thread: sent to the process, another thread may take it while this one goes on for some lines
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
