"""What the harness itself costs: runs of three turns, watched as events, against a provider double that answers at a real pace.

    .venv/bin/python -m scripts.bench.harness [--concurrent 1,10,50,100,200] [--runs N] [--instant] [--json]
Overhead of a run = what the asker waited - what the double spent on its chat calls - its embedding call; the parts come from
the run's own trace (level metadata). The double, the API and this asker are processes of their own. On a machine that others
use too compare the API's processor time per run.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import psutil
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from scripts.bench.paced import QUESTION
from scripts.citebound.api import Api
from scripts.citebound.commands.imports import send_paths, watch
from scripts.citebound.supervisor.instance import read_instance
from scripts.citebound.supervisor.supervise import ROOT
from scripts.citebound.temporary import TemporaryInstance
from shared.telemetry import names
from shared.types.events import RunCompleted, RunEvent, RunFailed
from shared.types.runs import Answer
from shared.types.traces import SpanNode, Trace
from tests.doubles.provider import Plan

CONCURRENT = (1, 10, 50, 100, 200)
TRACES = 40  # runs of a level whose traces are read
_PARTS = ("tools", "embedding call", "chat beyond the double", "between", "opening and finish")
_event = msgspec.json.Decoder(RunEvent)


class Asked(Struct, frozen=True, kw_only=True):
    """One run as its asker saw it. `problem` None: complete, three model calls, as planned."""

    key: str
    run_id: str
    waited_s: float
    problem: str | None = None


class Level(Struct, frozen=True, kw_only=True):
    """Times in ms."""

    concurrent: int
    runs: int
    errors: int
    runs_per_s: float
    overhead: dict[str, float]  # p50, p95, max
    parts: dict[str, float]  # medians
    cpu_ms: float  # of the API, per run
    memory_mb: int  # of the API, peak
    double_cpu: float  # share of a core
    double_late_ms: float  # p95 of its clock
    problems: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    levels = parser.add_argument("--concurrent", default=CONCURRENT, help="runs at once, one level after the other")
    levels.type = lambda text: tuple(int(number) for number in text.split(","))
    parser.add_argument("--runs", type=int, help="of a level (default: three for each at once, 30 at least)")
    parser.add_argument(
        "--instant", action="store_true", help="the double answers at once: only the harness's work is left"
    )
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(asked.concurrent, runs=asked.runs, instant=asked.instant)
    if asked.json:
        print(json.dumps([structs.asdict(level) for level in found]))
    else:
        show(found)


def measure(concurrent: Sequence[int], *, runs: int | None, instant: bool) -> list[Level]:
    with (
        tempfile.TemporaryDirectory(prefix="citebound-bench-") as name,
        paced_process(instant=instant) as (url, double),
    ):
        folder = Path(name)
        write_documents(folder / "docs")
        instance = TemporaryInstance(folder, roots=[folder / "docs"], settings=_settings(url))
        try:
            api = instance.start()
            watch(api, send_paths(api, [folder / "docs"], {}).import_id, show=False)
            running = read_instance(instance.layout)
            assert running is not None
            bench = _Bench(running.address, api, url, double, psutil.Process(running.children["api"]))
            bench.level(1, runs=3)  # warms up
            return [bench.level(number, runs=runs or max(3 * number, 30)) for number in concurrent]
        finally:
            instance.stop()


def show(levels: Sequence[Level]) -> None:
    columns = (
        "at once",
        "runs",
        "errors",
        "runs/s",
        "p50",
        "p95",
        "max",
        "CPU ms/run",
        "MB",
        *_PARTS,
        "double CPU",
        "late",
    )
    table = Table(*columns, title="overhead of a run of three turns, ms")
    for one in levels:
        overhead = (f"{one.overhead[name]:.1f}" for name in ("p50", "p95", "max"))
        parts = (f"{one.parts[name]:.1f}" for name in _PARTS)
        table.add_row(
            f"{one.concurrent}", f"{one.runs}", f"{one.errors}", f"{one.runs_per_s:.1f}", *overhead, f"{one.cpu_ms:.1f}",
            f"{one.memory_mb}", *parts, f"{one.double_cpu:.0%}", f"{one.double_late_ms:.1f}",
        )  # fmt: skip
    console = Console(width=200)
    console.print(table)
    for problem in dict.fromkeys(problem for one in levels for problem in one.problems):
        console.print(problem)


class _Bench:
    def __init__(self, address: str, api: Api, base_url: str, double: psutil.Process, server: psutil.Process) -> None:
        self._address = address
        self._api = api
        self._control = base_url.removesuffix("/v1") + "/control/served"
        self._double = double
        self._server = server
        self._asked = 0

    def level(self, concurrent: int, *, runs: int) -> Level:
        keys = [f"RUN-{number}" for number in range(self._asked, self._asked + runs)]
        self._asked += runs
        before, double_before = _cpu_s(self._server), _cpu_s(self._double)
        began = time.perf_counter()
        results, memory_mb = asyncio.run(self._ask_all(keys, concurrent))
        seconds = time.perf_counter() - began
        cpu_s, double_cpu_s = _cpu_s(self._server) - before, _cpu_s(self._double) - double_before
        told = httpx.get(self._control, trust_env=False).json()
        good = [one for one in results if one.problem is None]
        traced = {one.key: self._trace(one.run_id) for one in good[:: max(len(good) // TRACES, 1)]}
        embedding_ms = statistics.median([_sum(root, names.SEARCH_EMBED) for root in traced.values()] or [0.0])
        overheads = [1000 * (one.waited_s - told["served"][one.key]) - embedding_ms for one in good]
        return Level(
            concurrent=concurrent,
            runs=runs,
            errors=runs - len(good),
            runs_per_s=runs / seconds,
            overhead=_figures(overheads),
            parts=_medians([_parts(root, 1000 * told["served"][key]) for key, root in traced.items()]),
            cpu_ms=1000 * cpu_s / runs,
            memory_mb=memory_mb,
            double_cpu=double_cpu_s / seconds,
            double_late_ms=told["late_p95_ms"],
            problems=tuple(one.problem for one in results if one.problem is not None)[:5],
        )

    async def _ask_all(self, keys: Sequence[str], concurrent: int) -> tuple[list[Asked], int]:
        waiting = list(reversed(keys))
        results: list[Asked] = []
        peak = 0
        # a connection a run: one that is kept may be closed by the server just when it is used again
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        async with httpx.AsyncClient(trust_env=False, timeout=120, limits=limits) as client:

            async def asker() -> None:
                nonlocal peak
                while waiting:
                    results.append(await self._ask(client, waiting.pop()))
                    peak = max(peak, self._server.memory_info().rss // 2**20)

            await asyncio.gather(*(asker() for _ in range(concurrent)))
        return results, peak

    async def _ask(self, client: httpx.AsyncClient, key: str) -> Asked:
        began = time.perf_counter()
        answer: Answer | None = None
        body = {"question": f"{QUESTION} ({key})"}
        try:
            async with client.stream(
                "POST", f"{self._address}/api/runs", json=body, headers={"accept": "text/event-stream"}
            ) as reply:
                async for line in reply.aiter_lines():
                    if line.startswith(('data: {"type":"run.completed', 'data: {"type":"run.failed')):
                        event = _event.decode(line.removeprefix("data: "))
                        answer = event.answer if isinstance(event, RunCompleted | RunFailed) else None
        except httpx.HTTPError as error:
            return Asked(key=key, run_id="", waited_s=0.0, problem=repr(error))
        waited_s = time.perf_counter() - began
        if answer is None:
            return Asked(key=key, run_id="", waited_s=waited_s, problem=f"no answer, status {reply.status_code}")
        good = answer.status == "complete" and answer.usage.model_calls == 3
        problem = None if good else f"{answer.status}, {answer.termination_reason}, {answer.limitations}"
        return Asked(key=key, run_id=answer.run_id, waited_s=waited_s, problem=problem)

    def _trace(self, run_id: str) -> SpanNode:
        (root,) = self._api.get(f"/api/runs/{run_id}/trace", Trace).spans
        return root


def write_documents(folder: Path) -> None:
    """A small mixed library: 40 documents, about 200 blocks."""
    folder.mkdir()
    for number in range(40):
        body = "\n\n".join(
            f"## Part {part} 第{part}部分\n\nThe main bearing of pump P-{number}{part} must be greased every {200 + part} operating hours. "
            f"主轴承每运行{200 + part}小时须润滑一次，编号为 HR-{number:03d}-{part}。"
            + "Checks are noted in the log. 检查结果记入日志。"
            * 12
            for part in range(5)
        )
        (folder / f"pump-{number:02d}.md").write_text(f"# Pump {number} 泵 {number}\n\n{body}\n", encoding="utf-8")


@contextmanager
def paced_process(*, instant: bool) -> Generator[tuple[str, psutil.Process]]:
    """The paced double in a process of its own. Yields its base URL and the process."""
    pace = ("--first-token-ms", "0", "--tokens-per-s", "0") if instant else ()
    with _process("scripts.bench.paced", *pace) as (base_url, process):
        yield base_url, psutil.Process(process.pid)


@contextmanager
def provider_process(plan: Plan) -> Generator[str]:
    """The provider double of the tests in a process of its own, so that its work is not ours. Yields its base URL."""
    with _process("tests.doubles.provider") as (base_url, _):
        control = base_url.removesuffix("/v1") + "/control/plan"
        httpx.post(control, content=msgspec.json.encode(plan), trust_env=False).raise_for_status()
        yield base_url


@contextmanager
def _process(module: str, *arguments: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.terminate()
        process.wait()


def _settings(base_url: str) -> dict[str, str]:
    return {
        "CITEBOUND_CHAT_BASE_URL": base_url,
        "CITEBOUND_CHAT_MODEL": "double",
        "CITEBOUND_EMBEDDING_PROVIDER": "openai",
        "CITEBOUND_EMBEDDING_BASE_URL": base_url,
        "CITEBOUND_EMBEDDING_MODEL": "double",
        "CITEBOUND_EMBEDDING_DIMENSIONS": "384",
    }


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
