"""Where the embedded broker listens."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.citebound.supervisor.broker import answers, clear_socket, prepare_socket, server_binary, socket_path

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=80)


@given(parts=st.lists(NAMES, max_size=4), temporary=st.lists(NAMES, max_size=4))
def test_a_socket_path_is_never_too_long_for_the_kernel(parts: list[str], temporary: list[str]) -> None:
    folder = Path("/", *parts, "valkey")
    path = socket_path(folder, temporary=Path("/", *temporary))
    assert len(os.fsencode(path)) <= 100
    assert path == socket_path(folder, temporary=Path("/", *temporary))


def test_two_data_folders_never_share_a_socket() -> None:
    deep = "很长的目录名" * 20
    assert socket_path(Path("/a", deep)) != socket_path(Path("/b", deep))


def test_the_socket_of_a_killed_server_is_cleared_and_its_folder_is_private(tmp_path: Path) -> None:
    path = tmp_path / "sockets" / "broker.sock"
    path.parent.mkdir(mode=0o755)
    path.touch()
    prepare_socket(path)
    assert not path.exists()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    clear_socket(path, tmp_path)
    assert not path.parent.exists()


def test_the_brokers_own_folder_is_kept_when_its_socket_is_cleared(tmp_path: Path) -> None:
    path = tmp_path / "broker.sock"
    path.touch()
    clear_socket(path, tmp_path)
    assert not path.exists()
    assert tmp_path.is_dir()


def test_a_socket_nobody_listens_on_does_not_answer(tmp_path: Path) -> None:
    assert not answers(tmp_path / "无.sock")


@pytest.mark.skipif(os.name == "nt", reason="no embedded broker on Windows")
def test_the_server_comes_with_the_packages() -> None:
    assert os.access(server_binary(), os.X_OK)
