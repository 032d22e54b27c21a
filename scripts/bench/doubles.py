"""Provider doubles in processes of their own, so that their work is not what is measured, and a small library to ask."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import psutil

from scripts.citebound.supervisor.supervise import ROOT
from tests.doubles.provider import Plan


@contextmanager
def paced_process(*, instant: bool) -> Generator[tuple[str, psutil.Process]]:
    """The paced double. Yields its base URL and the process."""
    pace = ("--first-token-ms", "0", "--tokens-per-s", "0") if instant else ()
    with module_process("scripts.bench.paced", *pace) as (base_url, process):
        yield base_url, psutil.Process(process.pid)


@contextmanager
def provider_process(plan: Plan) -> Generator[str]:
    """The provider double of the tests. Yields its base URL."""
    with module_process("tests.doubles.provider") as (base_url, _):
        control = base_url.removesuffix("/v1") + "/control/plan"
        httpx.post(control, content=msgspec.json.encode(plan), trust_env=False).raise_for_status()
        yield base_url


@contextmanager
def module_process(module: str, *arguments: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """`python -m module` until the end of the block. Yields its first line and the process."""
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.terminate()
        process.wait()


def settings_for(base_url: str) -> dict[str, str]:
    return {
        "CITEBOUND_CHAT_BASE_URL": base_url,
        "CITEBOUND_CHAT_MODEL": "double",
        "CITEBOUND_EMBEDDING_PROVIDER": "openai",
        "CITEBOUND_EMBEDDING_BASE_URL": base_url,
        "CITEBOUND_EMBEDDING_MODEL": "double",
        "CITEBOUND_EMBEDDING_DIMENSIONS": "384",
    }


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
