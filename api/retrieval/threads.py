"""Where calls run that wait: for a disk, for a server, for a large collection."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from shared.catalog.reading import CatalogReader
from shared.text.terms import query_terms

T = TypeVar("T")

THREADS = 8  # reads wait for the disk or for SQLite, which releases the GIL


class Threads:
    """A few threads, each with a catalog connection of its own, opened when first needed."""

    def __init__(self, catalog: Path) -> None:
        self._catalog = catalog
        self._own = threading.local()
        self._readers: list[CatalogReader] = []
        self._executor = ThreadPoolExecutor(
            max_workers=THREADS, thread_name_prefix="retrieval", initializer=_load_dictionaries
        )

    async def run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    async def read(self, query: Callable[[CatalogReader], T]) -> T:
        """One or several queries in one thread. Raises: what CatalogReader raises."""
        return await self.run(lambda: query(self._reader()))

    async def close(self) -> None:
        """After the calls under way."""
        await asyncio.to_thread(self._executor.shutdown)
        for reader in self._readers:
            await asyncio.to_thread(reader.close)

    def _reader(self) -> CatalogReader:
        reader: CatalogReader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = CatalogReader(self._catalog)
            self._readers.append(reader)
        return reader


def _load_dictionaries() -> None:
    """Of the words that queries are cut into on the event loop: read from disk with the first one, which is here."""
    query_terms("词典")
