"""What the doctor says is set: in what runs, not in the shell that asks."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.citebound.commands.doctor import examine
from scripts.citebound.doctor.check import Check
from scripts.citebound.doctor.configured import in_force, running_settings
from scripts.citebound.supervisor.instance import Instance, write_instance
from shared.layout import Layout
from shared.settings_load import load_settings

RUNNING = {
    "CITEBOUND_CHAT_BASE_URL": "http://127.0.0.1:9/v1",
    "CITEBOUND_CHAT_MODEL": "通义",
    "CITEBOUND_CHAT_API_KEY": "sk-geheim",
}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(root=tmp_path)
    layout.create()
    note = in_force(load_settings({**RUNNING, "CITEBOUND_DATA_DIR": str(tmp_path)}))
    write_instance(
        layout,
        Instance(address="http://127.0.0.1:9", pid=os.getpid(), children={}, started_at_ms=1, settings=note),
    )
    return layout


def until_running(checks: Iterator[Check]) -> Iterator[Check]:
    """The checks before those that touch engines and models."""
    for check in checks:
        yield check
        if check.name == "running":
            return


def test_the_doctor_reports_what_is_set_in_the_running_instance(layout: Layout) -> None:
    env = {"CITEBOUND_DATA_DIR": str(layout.root), "CITEBOUND_WORKER_BLOCK_TOKENS": "128"}
    told = {check.name: check.detail for check in until_running(examine(env, online=False)) if check.name != "set"}
    there = [check.detail for check in until_running(examine(env, online=False)) if check.name == "set"]
    assert "chat.model = 通义" in there
    assert not any("128" in detail for detail in there)
    assert "worker.block_tokens = 128" in told["this shell"]
    assert "chat.model not set" in told["this shell"]


def test_what_is_noted_for_others_holds_no_secret(layout: Layout) -> None:
    assert "sk-geheim" not in layout.running.read_text(encoding="utf-8")


def test_a_shell_that_is_set_alike_is_not_mentioned() -> None:
    settings = load_settings(RUNNING)
    checks, differing = running_settings(settings, in_force(settings))
    assert differing == frozenset()
    assert "this shell" not in [check.name for check in checks]
