"""How many requests a key may make a minute. In memory: each process counts for itself, and from nothing when it starts."""

import time
from collections.abc import Callable

from shared.ids import KeyId

_MINUTE_S = 60.0


class Rates:
    """A bucket for each key: it holds a minute's requests and fills at their rate, so a burst is let through and a flood is not."""

    def __init__(self, *, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._buckets: dict[KeyId, tuple[float, float]] = {}  # requests left, as of when

    def take(self, key_id: KeyId, per_minute: int) -> float | None:
        """Count a request; None = it may go on, else the seconds until one may (it was not counted then)."""
        now_s = self._now_s()
        left, since_s = self._buckets.get(key_id, (float(per_minute), now_s))
        left = min(float(per_minute), left + (now_s - since_s) * per_minute / _MINUTE_S)
        allowed = left >= 1
        self._buckets[key_id] = (left - 1 if allowed else left, now_s)
        return None if allowed else (1 - left) * _MINUTE_S / per_minute
