"""How long a server's event loop keeps others waiting: asks /healthz ten times a second until its input ends, then tells the times.

    python -m scripts.bench.lag http://127.0.0.1:8765        (prints a line when it has begun, then {"p50": …, "p99": …, "max": …}, ms)
Such a request has nothing to wait for but the loop, so the longest ones tell of the longest piece of work that held everybody up, and of
how long the machine itself kept the server or this asker waiting.
"""

import asyncio
import json
import statistics
import sys
import time
from urllib.parse import urlsplit

PAUSE_S = 0.1  # each costs the server 0.3 ms, which the bench counts as the runs' own
_ASK = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


async def lags(address: str) -> list[float]:
    """In ms, until standard input ends."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    over = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    found: list[float] = []
    print("begun", flush=True)
    while not over.done():
        began = time.perf_counter()
        writer.write(_ASK)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
        found.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(PAUSE_S)
    writer.close()
    return found


def main() -> None:
    found = sorted(asyncio.run(lags(sys.argv[1])))
    p99 = found[min(len(found) - 1, int(len(found) * 0.99))]
    print(json.dumps({"p50": statistics.median(found), "p99": p99, "max": found[-1]}))


if __name__ == "__main__":
    main()
