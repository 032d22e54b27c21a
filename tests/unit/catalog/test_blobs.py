import hashlib
import os
import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.blobs import Blobs
from shared.errors import NotFound, StorageError


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@given(pieces=st.lists(st.binary(max_size=64)))
def test_content_that_arrives_in_any_pieces_lies_under_its_own_hash(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    blobs = Blobs(tmp_path_factory.mktemp("blobs"))
    whole = b"".join(pieces)
    with blobs.receiving() as receiver:
        for piece in pieces:
            receiver.write(piece)
        received = receiver.finish()
    assert received == (hashlib.sha256(whole).hexdigest(), len(whole))
    assert blobs.read(received[0]) == whole


def test_equal_content_is_stored_once(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    original = tmp_path / "手册.md"
    original.write_bytes("第一章".encode())
    assert blobs.put("第一章".encode()) == blobs.put_file(original)[0] == blobs.put_file(original)[0]
    assert len(files(tmp_path / "blobs")) == 1


def test_nothing_stays_of_a_file_that_was_not_finished(tmp_path: Path) -> None:
    def break_off(blobs: Blobs) -> None:
        with blobs.receiving() as receiver:
            receiver.write("一半".encode())
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        break_off(Blobs(tmp_path))
    with Blobs(tmp_path).receiving() as receiver:
        receiver.write(b"given up")
    assert files(tmp_path) == []


def test_parts_that_a_killed_process_left_are_swept_and_young_ones_kept(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    (tmp_path / "incoming").mkdir()
    old, young = tmp_path / "incoming" / "old", tmp_path / "incoming" / "young"
    for part in (old, young):
        part.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert blobs.sweep(older_than_s=3600) == 1
    assert files(tmp_path) == [young]


def test_changed_content_is_not_given_out_and_storing_it_again_mends_it(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    original = tmp_path / "手册.md"
    original.write_bytes("第一章".encode())
    sha256, _ = blobs.put_file(original)
    for mend in (lambda: blobs.put_file(original), lambda: blobs.put(original.read_bytes())):
        blobs.path(sha256).write_bytes("第二章".encode())
        for give_out in (blobs.read, blobs.sound):
            with pytest.raises(NotFound):
                give_out(sha256)
        mend()
        assert blobs.read(sha256) == blobs.sound(sha256).read_bytes() == original.read_bytes()


def test_missing_content_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Blobs(tmp_path).read("0" * 64)
    with pytest.raises(NotFound):
        Blobs(tmp_path).sound("0" * 64)


def test_a_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("not a folder")
    with pytest.raises(StorageError):
        Blobs(tmp_path / "blobs").put(b"x")


@contextmanager
def no_file_longer_than(size_bytes: int) -> Generator[None]:
    """The kernel refuses further bytes, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_the_stores_error_not_the_readers(tmp_path: Path) -> None:
    original = tmp_path / "手册.md"
    original.write_bytes(
        b"x" * 300
    )  # less than a buffer: it is written, and refused, when the copy is finished or closed
    blobs = Blobs(tmp_path / "blobs")
    with pytest.raises(StorageError), no_file_longer_than(100):
        blobs.put_file(original)
    assert files(tmp_path / "blobs") == []


def test_a_file_that_cannot_be_read_is_the_readers_error_not_the_stores(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Blobs(tmp_path / "blobs").put_file(tmp_path / "没有.md")
