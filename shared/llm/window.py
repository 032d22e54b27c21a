"""What a provider said of its model's window, for as long as that is to be believed."""

import time
from collections.abc import Callable

from shared.llm.port import ChatUsage

BELIEVED_S = 3600.0  # a router may have fallen back on a smaller model for a while


class LearnedWindow:
    """Told by a refusal; forgotten after `BELIEVED_S`, or once a call was larger and was answered."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._tokens: int | None = None
        self._until_s = 0.0

    @property
    def tokens(self) -> int | None:
        """Input and output of one call."""
        return self._tokens if self._now_s() < self._until_s else None

    def refused(self, window_tokens: int | None) -> None:
        if window_tokens is not None:
            self._tokens, self._until_s = window_tokens, self._now_s() + BELIEVED_S

    def answered(self, usage: ChatUsage | None) -> None:
        if usage is not None and self._tokens is not None and usage.input_tokens + usage.output_tokens > self._tokens:
            self._tokens = None
