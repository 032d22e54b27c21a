"""A person's path: start, import, ask, open the citation; and what must hold when something is killed."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from scripts.citebound.supervisor.supervise import ROOT
from tests.e2e.conftest import Running
from tests.e2e.processes import BOUND_S, family, gone, until
from tests.promises import promise

README_QUESTION = "第三季度的退货率是多少？"
QUARTER_ZH = """# 星海科技季度报告

2023年第三季度营业收入为4.82亿元，同比增长12.5%。退货率为2.3%，比第二季度的3.1%有所下降。公司计划在2024年进入东南亚市场。
"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@promise("P12")
@promise("P7")
def test_a_stranger_imports_a_folder_asks_and_opens_the_citation(start: Callable[[], Running], docs: Path) -> None:
    running = start()
    assert f'ask "{README_QUESTION}"' in (ROOT / "README.md").read_text(encoding="utf-8")
    (docs / "季报.md").write_text(QUARTER_ZH, encoding="utf-8")

    imported = running.command("import", str(docs), "--json")
    assert imported.returncode == 3, imported.stderr  # 空.txt fails alone
    outcome = json.loads(imported.stdout)
    assert outcome["state"] == "completed"
    assert [(one["key"], one["code"]) for one in outcome["failed_documents"]] == [("空.txt", "empty")]

    for question, marks in (
        ("水泵的机械密封多久更换一次？", "500"),
        ("When must crane 4 stop lifting?", "18"),
        (README_QUESTION, "退货率为2.3%，比第二季度的3.1%有所下降。"),
    ):
        asked = running.command("ask", question, "--json")
        answer = json.loads(asked.stdout)
        assert answer["extractive"]
        assert marks in answer["text"]
        citation = answer["citations"][0]
        opened = json.loads(running.command("block", citation["block_id"], "--json").stdout)
        assert citation["quote"] in opened["block"]["text"]
        traced = running.command("trace", answer["run_id"])
        assert traced.returncode == 0, traced.stderr
        assert "search_blocks" in traced.stdout

    scanned = running.command("scan", "E-17")
    assert "报警代码" in scanned.stdout
    listed = json.loads(running.command("documents", "--json").stdout)
    assert len(listed) == 3
    assert running.command("doctor").returncode == 0

    processes = family(running.process.pid)
    assert running.stop() == 0
    assert gone(processes)
    assert not running.layout.running.exists()


def test_what_was_imported_is_there_after_a_restart(start: Callable[[], Running], docs: Path) -> None:
    first = start()
    assert first.command("import", str(docs)).returncode == 3
    before = first.command("snapshots", "--json").stdout
    first.stop()
    assert start().command("snapshots", "--json").stdout == before


def test_what_may_not_be_imported_by_path_can_be_uploaded_and_asked_about_alone(
    start: Callable[[], Running], docs: Path, tmp_path: Path
) -> None:
    running = start()
    elsewhere = tmp_path / "别处"
    elsewhere.mkdir()
    (elsewhere / "电梯.md").write_text("# 电梯手册\n\n制动器每 90 天检查一次。\n", encoding="utf-8")
    (elsewhere / "crane.md").write_text("# Crane\n\nThe crane is checked every 30 days.\n", encoding="utf-8")

    refused = running.command("import", str(elsewhere), "--json")
    assert (refused.returncode, json.loads(refused.stdout)["error"]["code"]) == (2, "invalid_argument")

    for path, label in ((elsewhere / "电梯.md", "电梯"), (elsewhere / "crane.md", "crane")):
        uploaded = running.command("import", str(path), "--upload", "--label", label)
        assert uploaded.returncode == 0, uploaded.stderr
    listed = json.loads(running.command("documents", "--json").stdout)
    assert sorted(one["source_label"] for one in listed) == ["crane", "电梯"]

    for label, question, days in (
        ("电梯", "制动器多少天检查一次？", "90"),
        ("crane", "How often is the crane checked?", "30"),
    ):
        answer = json.loads(running.command("ask", question, "--source", label, "--json").stdout)
        assert days in answer["text"]
        assert {citation["source_label"] for citation in answer["citations"]} == {label}

    activated = running.command(
        "activate", json.loads(running.command("snapshots", "--json").stdout)["snapshots"][-1]["snapshot_id"]
    )
    assert activated.returncode == 0
    assert len(json.loads(running.command("documents", "--json").stdout)) == 1


def test_a_second_start_on_the_same_folder_is_refused_with_the_address_of_the_first(
    start: Callable[[], Running],
) -> None:
    running = start()
    second = running.command("up")
    assert second.returncode == 1
    assert running.instance.address in second.stderr
    assert str(running.process.pid) in second.stderr
    assert httpx.get(f"{running.instance.address}/readyz", trust_env=False).is_success


def test_a_port_in_use_is_told_before_anything_is_started(env: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        argv = [sys.executable, "-m", "scripts.citebound", "up"]
        refused = subprocess.run(
            argv, env={**env, "CITEBOUND_API_PORT": port}, capture_output=True, text=True, timeout=BOUND_S, check=False
        )
    assert refused.returncode == 1
    assert port in refused.stderr
    assert "CITEBOUND_API_PORT" in refused.stderr
    assert list((Path(env["CITEBOUND_DATA_DIR"]) / "logs").iterdir()) == []


def test_a_data_folder_that_cannot_be_made_is_told_with_a_remedy(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "文件").write_text("not a folder")
    argv = [sys.executable, "-m", "scripts.citebound", "up"]
    folder = str(tmp_path / "文件" / "资料")
    refused = subprocess.run(
        argv, env={**env, "CITEBOUND_DATA_DIR": folder}, capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert refused.returncode == 1
    assert "CITEBOUND_DATA_DIR" in refused.stderr


def test_a_killed_supervisor_leaves_no_process_and_blocks_no_start(start: Callable[[], Running]) -> None:
    running = start()
    processes = family(running.process.pid)
    assert len(processes) >= 5  # supervisor, guard, broker, worker, api
    running.process.kill()
    running.process.wait()
    again = start()  # waits for the orphans by itself
    assert gone(processes)
    assert again.stop() == 0


@promise("P9")
@pytest.mark.parametrize("name", ["worker", "api", "broker"])
def test_a_killed_child_comes_back_and_imports_go_on(start: Callable[[], Running], docs: Path, name: str) -> None:
    running = start()
    victim = running.instance.children[name]
    os.kill(victim, signal.SIGKILL)
    until(f"the {name} is back", lambda: running.instance.children.get(name, victim) != victim)
    imported = running.command("import", str(docs), "--json")
    assert imported.returncode == 3, imported.stderr + running.log.read_text()
    assert "SIGKILL" in running.log.read_text()


def test_smoke_proves_the_whole_path_and_leaves_nothing_behind(env: dict[str, str], docs: Path, tmp_path: Path) -> None:
    (docs / "空.txt").unlink()
    scratch, home = tmp_path / "scratch", tmp_path / "home"
    scratch.mkdir()
    home.mkdir()
    argv = [sys.executable, "-m", "scripts.citebound", "smoke", "--docs", str(docs), "--json"]
    done = subprocess.run(
        [*argv, "--question", "报警代码 E-17 是什么意思？"],
        env={**env, "TMPDIR": str(scratch), "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["passed"]
    assert report["snapshot"]["state"] == "ready"
    assert list(report["timings_ms"]) == ["start", "import", "ask", "verify", "stop"]
    assert "0.8 bar" in report["answer"]["text"]
    assert [*scratch.iterdir(), *home.iterdir()] == []  # no cache, no telemetry of some library either
    assert not (Path(env["CITEBOUND_DATA_DIR"])).exists()


def test_the_command_works_from_any_folder_and_is_not_fooled_by_what_lies_there(
    env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "__init__.py").write_text("raise SystemExit('别人的 shared')")
    link = tmp_path / "citebound"
    link.symlink_to(ROOT / "scripts" / "run")
    helped = subprocess.run(
        [link, "ask", "--help"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert helped.returncode == 0, helped.stderr
    assert "usage: citebound ask" in helped.stdout
