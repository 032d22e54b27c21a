"""Die at a named point, for tests of what a kill leaves behind.

CITEBOUND_FAULT="embed:stored" ends the process (SIGKILL) the first time that point is reached, "embed:stored@3" the third time.
Never set outside tests; then a point costs one look into the environment.
"""

import os
import signal
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
            os.kill(os.getpid(), signal.SIGKILL)
