"""What the harness itself costs: runs of three turns, watched as events, against a provider double that answers at a real pace.

    .venv/bin/python -m scripts.bench.harness [--concurrent 1,10,50,100,200] [--steady] [--runs N] [--instant] [--json]
Overhead of a run = what the asker waited - what the double spent on its calls; the parts come from the run's own trace (level
metadata). The double, the API and this asker are processes of their own. On a machine that others use too compare the API's
processor time per run.
"""

import argparse
import asyncio
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import httpx
import psutil
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from scripts.bench.asking import Asked, at_once, steadily
from scripts.bench.doubles import module_process, paced_process, settings_for, write_documents
from scripts.citebound.api import Api
from scripts.citebound.commands.imports import send_paths, watch
from scripts.citebound.supervisor.instance import read_instance
from scripts.citebound.temporary import TemporaryInstance
from shared.telemetry import names
from shared.types.traces import SpanNode, Trace

CONCURRENT = (1, 10, 50, 100, 200)
STEADY_RUNS = 600  # of a level with --steady
TRACES = 40  # runs of a level whose traces are read
MEMORY_EVERY_S = 0.5
_PARTS = ("tools", "embedding call", "chat beyond the double", "between", "opening and finish")


class Level(Struct, frozen=True, kw_only=True):
    """Times in ms."""

    concurrent: int
    steady: bool
    runs: int
    errors: int
    runs_per_s: float
    overhead: dict[str, float]  # p50, p95, max
    parts: dict[str, float]  # medians
    lag: dict[str, float]  # of a request that has nothing to do: p50, p99, max
    cpu_ms: float  # of the API, per run
    memory_mb: int  # of the API, peak
    double_cpu: float  # share of a core
    double_late_ms: float  # p95 of its clock
    problems: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    levels = parser.add_argument("--concurrent", default=CONCURRENT, help="runs at once, one level after the other")
    levels.type = lambda text: tuple(int(number) for number in text.split(","))
    parser.add_argument(
        "--steady", action="store_true", help="so many are under way all the time, instead of begun in the same instant"
    )
    parser.add_argument(
        "--runs", type=int, help="of a level (default: three for each at once, 30 at least; steady 600)"
    )
    parser.add_argument(
        "--instant", action="store_true", help="the double answers at once: only the harness's work is left"
    )
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(asked.concurrent, runs=asked.runs, instant=asked.instant, steady=asked.steady)
    if asked.json:
        print(json.dumps([structs.asdict(level) for level in found]))
    else:
        show(found)


def measure(concurrent: Sequence[int], *, runs: int | None, instant: bool, steady: bool) -> list[Level]:
    with (
        tempfile.TemporaryDirectory(prefix="citebound-bench-") as name,
        paced_process(instant=instant) as (url, double),
    ):
        folder = Path(name)
        write_documents(folder / "docs")
        instance = TemporaryInstance(folder, roots=[folder / "docs"], settings=settings_for(url))
        try:
            api = instance.start()
            watch(api, send_paths(api, [folder / "docs"], {}).import_id, show=False)
            running = read_instance(instance.layout)
            assert running is not None
            bench = Bench(running.address, api, url, double, psutil.Process(running.children["api"]))
            alone_s = bench.level(1, runs=3, steady=False).runs_per_s ** -1  # warms up
            found: list[Level] = []
            for number in concurrent:
                least = STEADY_RUNS if steady else max(3 * number, 30)
                found.append(bench.level(number, runs=runs or least, steady=steady, ramp_s=2 * alone_s))
            return found
        finally:
            instance.stop()


def show(levels: Sequence[Level]) -> None:
    columns = (
        "at once", "runs", "errors", "runs/s", "p50", "p95", "max", "CPU ms/run", "MB", *_PARTS, "lag p99", "max",
        "double CPU", "late",
    )  # fmt: skip
    table = Table(*columns, title="overhead of a run of three turns, ms")
    for one in levels:
        overhead = (f"{one.overhead[name]:.1f}" for name in ("p50", "p95", "max"))
        parts = (f"{one.parts[name]:.1f}" for name in _PARTS)
        table.add_row(
            f"{one.concurrent}{' steady' if one.steady else ''}", f"{one.runs}", f"{one.errors}", f"{one.runs_per_s:.1f}",
            *overhead, f"{one.cpu_ms:.1f}", f"{one.memory_mb}", *parts, f"{one.lag['p99']:.1f}", f"{one.lag['max']:.1f}",
            f"{one.double_cpu:.0%}", f"{one.double_late_ms:.1f}",
        )  # fmt: skip
    console = Console(width=200)
    console.print(table)
    for problem in dict.fromkeys(problem for one in levels for problem in one.problems):
        console.print(problem)


class Bench:
    def __init__(self, address: str, api: Api, base_url: str, double: psutil.Process, server: psutil.Process) -> None:
        self._address = address
        self._api = api
        self._control = base_url.removesuffix("/v1") + "/control/served"
        self._double = double
        self._server = server
        self._keys = (f"RUN-{number}" for number in itertools.count())

    def level(self, concurrent: int, *, runs: int, steady: bool, ramp_s: float = 0.0) -> Level:
        """`ramp_s`: in which a steady flow begins."""
        with module_process("scripts.bench.lag", self._address) as (_, prober):
            before, double_before = _cpu_s(self._server), _cpu_s(self._double)
            began = time.perf_counter()
            results, asked, memory_mb = asyncio.run(self._asked(concurrent, runs, steady=steady, ramp_s=ramp_s))
            seconds = time.perf_counter() - began
            cpu_s, double_cpu_s = _cpu_s(self._server) - before, _cpu_s(self._double) - double_before
            lag: dict[str, float] = json.loads(prober.communicate()[0])
        told = httpx.get(self._control, trust_env=False).json()
        good = [one for one in results if one.problem is None]
        traced = {one.key: self._trace(one.run_id) for one in good[:: max(len(good) // TRACES, 1)]}
        served = {one.key: 1000 * told["served"][one.key] for one in good}
        return Level(
            concurrent=concurrent,
            steady=steady,
            runs=runs,
            errors=runs - len(good),
            runs_per_s=asked / seconds,
            overhead=_figures([1000 * one.waited_s - served[one.key] - told["embedding_ms"] for one in good]),
            parts=_medians([_parts(root, served[key]) for key, root in traced.items()]),
            lag=lag,
            cpu_ms=1000 * cpu_s / asked,
            memory_mb=memory_mb,
            double_cpu=double_cpu_s / seconds,
            double_late_ms=told["late_p95_ms"],
            problems=tuple(one.problem for one in results if one.problem is not None)[:5],
        )

    async def _asked(self, concurrent: int, runs: int, *, steady: bool, ramp_s: float) -> tuple[list[Asked], int, int]:
        """The runs that count, how many there were in all, and the server's peak in MB."""
        peak = 0

        async def watch_memory() -> None:
            nonlocal peak
            while True:
                peak = max(peak, self._server.memory_info().rss // 2**20)
                await asyncio.sleep(MEMORY_EVERY_S)

        watching = asyncio.create_task(watch_memory())
        try:
            if steady:
                found = await steadily(self._address, self._keys, concurrent=concurrent, runs=runs, ramp_s=ramp_s)
                return *found, peak
            keys = list(itertools.islice(self._keys, runs))
            return await at_once(self._address, keys, concurrent=concurrent), runs, peak
        finally:
            watching.cancel()

    def _trace(self, run_id: str) -> SpanNode:
        (root,) = self._api.get(f"/api/runs/{run_id}/trace", Trace).spans
        return root


def _parts(root: SpanNode, served_ms: float) -> dict[str, float]:
    """Of one run, in the order of `_PARTS`."""
    turns = sum(_ms(span) for span in root.children if span.name == names.TURN)
    embedding, chat = _sum(root, names.SEARCH_EMBED), _sum(root, names.CHAT)
    tools = _sum(root, names.TOOL)
    values = (tools - embedding, embedding, chat - served_ms, turns - chat - tools, _ms(root) - turns)
    return dict(zip(_PARTS, values, strict=True))


def _medians(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {part: statistics.median([row[part] for row in rows] or [0.0]) for part in _PARTS}


def _sum(root: SpanNode, wanted: str) -> float:
    return sum(_ms(span) for span in _walk(root) if span.name.split(" ")[0] == wanted)


def _walk(span: SpanNode) -> Generator[SpanNode]:
    yield span
    for child in span.children:
        yield from _walk(child)


def _ms(span: SpanNode) -> float:
    return (span.end_ns - span.start_ns) / 1e6


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _figures(values: list[float]) -> dict[str, float]:
    ordered = sorted(values) or [0.0]
    return {
        "p50": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))],
        "max": ordered[-1],
    }


if __name__ == "__main__":
    main()
