"""One instance per data folder, and what it leaves for others to read."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.citebound.failure import CommandFailed
from scripts.citebound.supervisor.instance import (
    Instance,
    claim_folder,
    forget_instance,
    read_instance,
    take_lock,
    write_instance,
)
from shared.layout import Layout
from shared.settings_load import config_file

HERE = Instance(address="http://127.0.0.1:8765", pid=os.getpid(), children={"api": 12, "worker": 13}, started_at_ms=1)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(root=tmp_path / "资料")
    layout.create()
    return layout


@pytest.fixture
def dead() -> int:
    """A process id that belongs to nobody."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_is_written_is_read_back_and_only_its_owner_may_read_it(layout: Layout) -> None:
    assert read_instance(layout) is None
    write_instance(layout, HERE)
    assert read_instance(layout) == HERE
    assert stat.S_IMODE(layout.running.stat().st_mode) == 0o600
    forget_instance(layout)
    assert read_instance(layout) is None


def test_a_note_cut_short_counts_as_none(layout: Layout) -> None:
    layout.running.write_text('{"address": "http')
    assert read_instance(layout) is None


def test_a_data_folder_that_is_a_file_or_can_t_be_has_no_note_and_no_settings(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / ("长" * 300)):
        assert read_instance(Layout(root=folder)) is None
    assert config_file({"CITEBOUND_DATA_DIR": str(tmp_path / "file")}) is None


def test_the_lock_is_had_once_and_is_free_again_when_closed(layout: Layout) -> None:
    lock = take_lock(layout.lock)
    assert lock is not None
    assert take_lock(layout.lock) is None
    os.close(lock)
    again = take_lock(layout.lock)
    assert again is not None
    os.close(again)


def test_a_second_start_is_refused_with_address_and_process_of_the_first(layout: Layout) -> None:
    lock = take_lock(layout.lock)
    assert lock is not None
    write_instance(layout, HERE)
    with pytest.raises(CommandFailed) as caught:
        claim_folder(layout, tell=pytest.fail)
    os.close(lock)
    assert caught.value.error == "already_running"
    assert HERE.address in caught.value.message
    assert str(HERE.pid) in caught.value.message


def test_the_note_of_a_killed_supervisor_blocks_nobody(layout: Layout, dead: int) -> None:
    write_instance(layout, Instance(address=HERE.address, pid=dead, children={}, started_at_ms=1))
    os.close(claim_folder(layout, tell=pytest.fail))


def test_orphans_that_hold_the_lock_are_waited_for_and_then_named(layout: Layout, dead: int) -> None:
    lock = take_lock(layout.lock)
    assert lock is not None
    write_instance(layout, Instance(address="", pid=dead, children={"worker": os.getpid()}, started_at_ms=1))
    told: list[str] = []
    with pytest.raises(CommandFailed) as caught:
        claim_folder(layout, patience_s=0, tell=told.append)
    os.close(lock)
    assert caught.value.error == "already_running"
    assert f"worker {os.getpid()}" in caught.value.message
