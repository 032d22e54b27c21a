"""What the harness itself costs: runs of three turns against a provider double, without the time of model and embedder.

    .venv/bin/python -m scripts.bench.harness [--runs 50] [--json]
Overhead of a run = its root span - its chat spans - its embedding spans, from the run's own trace (trace level metadata).
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec

from scripts.citebound.api import Api
from scripts.citebound.commands.ask import ask_quietly
from scripts.citebound.commands.imports import send_paths, watch
from scripts.citebound.supervisor.supervise import ROOT
from scripts.citebound.temporary import TemporaryInstance
from shared.telemetry import names
from shared.types.traces import SpanNode, Trace
from tests.doubles.provider import Plan, Rule, Say

QUESTION = "How often must the main bearing be greased? 主轴承多久润滑一次？"
_FIRST = f"Thought: STEP-ONE\nAction: search_blocks[{json.dumps({'query': QUESTION}, ensure_ascii=False)}]"
_SECOND = 'Thought: STEP-TWO\nAction: scan_term[{"term": "grease"}]'
_LAST = "Thought: enough\nAction: Finish[Every 250 operating hours. [source: {{block_id}}]]"
PLAN = Plan(
    rules=(
        Rule(route="chat", reply=Say(text=_LAST), containing="STEP-TWO"),
        Rule(route="chat", reply=Say(text=_SECOND), containing="STEP-ONE"),
        Rule(route="chat", reply=Say(text=_FIRST)),
    )
)
_SPENT_ELSEWHERE = (names.CHAT, names.SEARCH_EMBED)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=50)
    arguments.add_argument("--json", action="store_true")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="citebound-bench-") as folder, provider_process() as base_url:
        figures = measure(Path(folder), base_url, runs=asked.runs)
    if asked.json:
        print(json.dumps(figures))
        return
    for name, values in figures.items():
        print(f"{name:32} p50 {values['p50']:8.2f}  p95 {values['p95']:8.2f}  max {values['max']:8.2f} ms")


def measure(folder: Path, base_url: str, *, runs: int) -> dict[str, dict[str, float]]:
    """Figures in ms by name. The first run warms up and is not counted."""
    docs = folder / "docs"
    docs.mkdir()
    write_documents(docs)
    settings = {"CITEBOUND_CHAT_BASE_URL": base_url, "CITEBOUND_CHAT_MODEL": "double"}
    instance = TemporaryInstance(folder, roots=[docs], settings=settings)
    try:
        api = instance.start()
        watch(api, send_paths(api, [docs], {}).import_id, show=False)
        traces = [_run(api) for _ in range(runs + 1)][1:]
    finally:
        instance.stop()
    totals = [_ms(root) for root in traces]
    chats = [_sum(root, (names.CHAT,)) for root in traces]
    embeddings = [_sum(root, (names.SEARCH_EMBED,)) for root in traces]
    overheads = [total - _sum(root, _SPENT_ELSEWHERE) for total, root in zip(totals, traces, strict=True)]
    return {
        "run": _figures(totals),
        "of it chat calls (double)": _figures(chats),
        "of it query embedding": _figures(embeddings),
        "harness overhead": _figures(overheads),
        "of it tools without embedding": _figures([_tools(root) for root in traces]),
    }


def write_documents(folder: Path) -> None:
    """A small mixed library: 40 documents, about 200 blocks."""
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
def provider_process(plan: Plan = PLAN) -> Generator[str]:
    """The provider double in a process of its own, so that its work is not ours. Yields its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.doubles.provider"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        control = base_url.removesuffix("/v1") + "/control/plan"
        httpx.post(control, content=msgspec.json.encode(plan), trust_env=False).raise_for_status()
        yield base_url
    finally:
        process.terminate()
        process.wait()


def _run(api: Api) -> SpanNode:
    answer = ask_quietly(api, QUESTION)
    if answer.status != "complete" or answer.usage.model_calls != 3:
        raise RuntimeError(f"expected a complete run of three turns, got {answer.status}: {answer.termination_reason}")
    trace = api.get(f"/api/runs/{answer.run_id}/trace", Trace)
    (root,) = trace.spans
    return root


def _tools(root: SpanNode) -> float:
    spent = sum(_ms(span) for span in _walk(root) if span.name.startswith(names.TOOL))
    return spent - _sum(root, (names.SEARCH_EMBED,))


def _sum(root: SpanNode, wanted: tuple[str, ...]) -> float:
    return sum(_ms(span) for span in _walk(root) if span.name.split(" ")[0] in wanted)


def _walk(span: SpanNode) -> Generator[SpanNode]:
    yield span
    for child in span.children:
        yield from _walk(child)


def _ms(span: SpanNode) -> float:
    return (span.end_ns - span.start_ns) / 1e6


def _figures(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "p50": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))],
        "max": ordered[-1],
    }


if __name__ == "__main__":
    main()
