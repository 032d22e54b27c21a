"""What tracing costs a run: the same runs with it off, at level metadata, at level full, and full with every span and its contents sent on.

    .venv/bin/python -m scripts.bench.tracing [--rounds N] [--runs N] [--concurrent N] [--json]
Four query processes over copies of one small library are asked in turns, round after round, against a provider double that answers at
once; a round's turns begin with another of them each time. What counts is the process's own processor time per run, its background
writer and exporter included, and its ratio to "off" in the same round: both hold on a machine that has much else to do.
"off" is OpenTelemetry's own switch (OTEL_SDK_DISABLED): no spans at all; the record of a run is kept all the same.
"""

import argparse
import asyncio
import itertools
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import httpx
import psutil
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from scripts.bench.asking import at_once
from scripts.bench.doubles import paced_process, settings_for, write_documents
from scripts.citebound.commands.imports import send_paths, watch
from scripts.citebound.supervisor.supervise import ROOT
from scripts.citebound.temporary import TemporaryInstance
from shared.telemetry.export import DELAY_MS

WARM_RUNS: Final = 8
START_S: Final = 120
SETTLE_S: Final = 0.5 + 2 * DELAY_MS / 1000  # until the writer and the exporter have had their turn


class Cost(Struct, frozen=True, kw_only=True):
    """Processor time of the query process per run; `ratio`: to "off" in the same round, the median of rounds."""

    tracing: str
    runs: int
    errors: int
    cpu_ms: float  # median of rounds
    least_ms: float
    most_ms: float
    ratio: float
    sent_kb: float  # per run, compressed


class Server(Struct, frozen=True, kw_only=True):
    tracing: str
    address: str
    process: psutil.Process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=int, default=40, help="of a turn")
    parser.add_argument("--concurrent", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(rounds=asked.rounds, runs=asked.runs, concurrent=asked.concurrent)
    if asked.json:
        print(json.dumps([structs.asdict(cost) for cost in found]))
    else:
        show(found)


def measure(*, rounds: int, runs: int, concurrent: int) -> list[Cost]:
    with (
        tempfile.TemporaryDirectory(prefix="citebound-bench-") as name,
        paced_process(instant=True) as (provider, _),
        _receiver() as receiver,
        ExitStack() as stack,
    ):
        folder = Path(name)
        library = _library(folder, provider)
        modes = _modes(f"http://127.0.0.1:{receiver.server_port}/v1/traces")
        servers = [
            stack.enter_context(_server(shutil.copytree(library, folder / f"data-{number}"), provider, tracing, env))
            for number, (tracing, env) in enumerate(modes.items())
        ]
        keys = (f"RUN-{number}" for number in itertools.count())
        for server in servers:
            _turn(server, list(itertools.islice(keys, WARM_RUNS)), concurrent)
        turning, cpu_ms = deque(servers), {tracing: list[float]() for tracing in modes}
        errors, sent = dict.fromkeys(modes, 0), 0
        for _ in range(rounds):
            for server in turning:
                before = receiver.received_bytes
                spent_ms, wrong = _turn(server, list(itertools.islice(keys, runs)), concurrent)
                cpu_ms[server.tracing].append(spent_ms / runs)
                errors[server.tracing] += wrong
                sent += receiver.received_bytes - before
            turning.rotate(1)
        off = cpu_ms[next(iter(modes))]
        exporting = list(modes)[-1]
        return [
            Cost(
                tracing=tracing,
                runs=rounds * runs,
                errors=errors[tracing],
                cpu_ms=statistics.median(spent),
                least_ms=min(spent),
                most_ms=max(spent),
                ratio=statistics.median(one / base for one, base in zip(spent, off, strict=True)),
                sent_kb=sent / 1024 / (rounds * runs) if tracing == exporting else 0.0,
            )
            for tracing, spent in cpu_ms.items()
        ]


def show(costs: Sequence[Cost]) -> None:
    table = Table("tracing", "runs", "errors", "CPU ms/run", "least", "most", "ratio", "KB sent/run")
    for one in costs:
        figures = (f"{value:.1f}" for value in (one.cpu_ms, one.least_ms, one.most_ms))
        table.add_row(one.tracing, f"{one.runs}", f"{one.errors}", *figures, f"{one.ratio:.2f}", f"{one.sent_kb:.1f}")
    Console(width=120).print(table)


def _modes(receiver: str) -> dict[str, dict[str, str]]:
    full = {"CITEBOUND_TRACE_LEVEL": "full"}
    return {
        "off": {"OTEL_SDK_DISABLED": "true"},
        "metadata": {"CITEBOUND_TRACE_LEVEL": "metadata"},
        "full": full,
        "full, sent on": full | {"CITEBOUND_OTLP_ENDPOINT": receiver, "CITEBOUND_OTLP_CONTENTS": "true"},
    }


def _turn(server: Server, keys: list[str], concurrent: int) -> tuple[float, int]:
    """Processor time in ms, and how many runs were not as planned."""
    before = server.process.cpu_times()
    results = asyncio.run(at_once(server.address, keys, concurrent=concurrent))
    time.sleep(SETTLE_S)
    after = server.process.cpu_times()
    spent_s = after.user + after.system - before.user - before.system
    return 1000 * spent_s, sum(one.problem is not None for one in results)


def _library(folder: Path, provider: str) -> Path:
    """A data folder with a published snapshot, which nobody holds any more."""
    write_documents(folder / "docs")
    instance = TemporaryInstance(folder, roots=[folder / "docs"], settings=settings_for(provider))
    try:
        api = instance.start()
        watch(api, send_paths(api, [folder / "docs"], {}).import_id, show=False)
    finally:
        instance.stop()
    return instance.layout.root


@contextmanager
def _server(data: Path, provider: str, tracing: str, env: Mapping[str, str]) -> Generator[Server]:
    """A query process alone. It finds no broker, and needs none to answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CITEBOUND_", "OTEL_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "api", "--port", str(port)],
        cwd=ROOT,
        env=kept | settings_for(provider) | {"CITEBOUND_DATA_DIR": str(data)} | dict(env),
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _await_start(address, process)
        yield Server(tracing=tracing, address=address, process=psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait()


def _await_start(address: str, process: subprocess.Popen[bytes]) -> None:
    end_s = time.monotonic() + START_S
    while time.monotonic() < end_s and process.poll() is None:
        try:
            parts = httpx.get(f"{address}/readyz", trust_env=False).json()["parts"]
        except httpx.TransportError:
            time.sleep(0.2)
            continue
        if parts["embedder"]["state"] == "ok":
            return
        time.sleep(0.2)
    raise TimeoutError(f"no query process answers at {address}")


class _Receiver(ThreadingHTTPServer):
    """Takes whatever is sent and counts it; in this process, whose time is not what is measured."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received_bytes = 0


class _Handler(BaseHTTPRequestHandler):
    server: _Receiver  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        self.server.received_bytes += len(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def _receiver() -> Generator[_Receiver]:
    with _Receiver() as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        yield receiver
        receiver.shutdown()


if __name__ == "__main__":
    main()
