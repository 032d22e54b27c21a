import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.errors import StorageError
from worker.reserve import SIZE_BYTES, Reserve


@contextmanager
def no_file_longer_than(size_bytes: int) -> Generator[None]:
    """The kernel refuses further bytes, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_room_is_taken_once_and_given_back_at_once(tmp_path: Path) -> None:
    path = tmp_path / "reserve"
    reserve = Reserve(path)
    reserve.lay_up()
    taken = path.stat()
    reserve.lay_up()
    assert (taken.st_size, path.stat().st_mtime_ns) == (SIZE_BYTES, taken.st_mtime_ns)
    reserve.give_up()
    reserve.give_up()
    assert not path.exists()


def test_what_a_killed_worker_left_half_is_made_whole(tmp_path: Path) -> None:
    path = tmp_path / "reserve"
    path.write_bytes(b"half")
    Reserve(path).lay_up()
    assert path.stat().st_size == SIZE_BYTES


def test_a_disk_without_room_is_a_storage_error_and_keeps_the_room_it_has(tmp_path: Path) -> None:
    path = tmp_path / "reserve"
    with pytest.raises(StorageError), no_file_longer_than(SIZE_BYTES // 2):
        Reserve(path).lay_up()
    assert not path.exists()
