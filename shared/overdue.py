"""Calls into something that may never come back: a store that waits for a person who isn't there."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Overdue(Exception):
    """The call did not come back in time; it may still do what it was to do."""


class Patient:
    """Safe between threads. A call that is overdue is left alone in a thread of its own; while it is, no other is tried."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._overdue: threading.Thread | None = None

    def call(self, work: Callable[[], T]) -> T:
        """Blocking, for so many seconds at most. Raises: Overdue; what `work` raises."""
        with self._lock:
            if self._overdue is not None and self._overdue.is_alive():
                raise Overdue
        call = _Call(work)
        call.start()
        call.join(self._seconds)
        if call.is_alive():
            with self._lock:
                self._overdue = call
            raise Overdue
        return call.outcome.result()


class _Call(threading.Thread, Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(name="patient", daemon=True)  # which nobody waits for when the process ends
        self.outcome: Future[T] = Future()
        self._work = work

    def run(self) -> None:
        try:
            self.outcome.set_result(self._work())
        except Exception as error:  # noqa: BLE001  raised again where it is waited for
            self.outcome.set_exception(error)
