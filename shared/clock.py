"""Time comes from here, so that a test can turn it."""

import time
from collections.abc import Callable
from typing import TypeAlias

NowMs: TypeAlias = Callable[[], int]


def now_ms() -> int:
    """UTC, milliseconds since 1970."""
    return time.time_ns() // 1_000_000
