"""An event loop on a thread of its own, for callers of any thread and any loop."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class OwnLoop:
    """Started at first use; the thread doesn't keep a process alive that forgot `stop`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._turn = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False

    def run(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Cancelling the future cancels the work. Raises: RuntimeError after `stop`."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._running())
        except RuntimeError:
            work.close()  # nobody will await it
            raise

    def stop(self) -> None:
        """Cancel what is under way, end the loop as `asyncio.run` does, and the thread. Blocking; a second call does nothing."""
        with self._turn:
            loop, thread, self._stopped = self._loop, self._thread, True
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end(loop), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._turn:
            if self._stopped:
                raise RuntimeError(f"{self._name} is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return self._loop


async def _end(loop: asyncio.AbstractEventLoop) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await loop.shutdown_asyncgens()
