"""BlockBuster, as the tests arm it."""

from collections.abc import Generator
from contextlib import contextmanager

from blockbuster import blockbuster_ctx


@contextmanager
def nothing_blocks() -> Generator[None]:
    """In event loops of this context; but for the look at SQLite that waits for nobody (decision 0137).

    A loop that ends may join its executor's thread: asyncio's is let by BlockBuster itself, uvloop's shows no frame of its own.
    """
    with blockbuster_ctx() as armed:
        for name in ("sqlite3.Connection.execute", "sqlite3.Cursor.fetchone"):
            armed.functions[name].can_block_in("shared/catalog/commits.py", "mark")
        armed.functions["threading.Lock.acquire"].can_block_in("asyncio/runners.py", "close")
        yield
