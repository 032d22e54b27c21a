import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import StorageError
from shared.files import document_key, files_under
from shared.types.imports import Upload
from tests.factories import nest
from worker.stages.places import upload_keys


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("内容")


def test_a_folder_is_walked_in_sorted_order_without_what_systems_leave_behind(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a.md", "章/一.md", "章/.hidden/x.md", ".DS_Store", "~$报告.docx", "notes.md~")
    write(tmp_path, "Thumbs.db", "__MACOSX/a.md", ".git/config")
    assert [found.key for found in files_under(tmp_path)] == ["a.md", "b.md", "章/一.md"]


def test_links_are_not_followed_and_those_that_lead_outside_are_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    write(inside, "a.md")
    write(outside, "密.md")
    (inside / "same.md").symlink_to(inside / "a.md")
    (inside / "密.md").symlink_to(outside / "密.md")
    (inside / "folder").symlink_to(outside, target_is_directory=True)
    (inside / "loop").symlink_to(inside, target_is_directory=True)
    found = {file.key: file.refused is not None for file in files_under(inside)}
    assert found == {"a.md": False, "密.md": True, "folder": True}


def test_folders_deeper_than_python_calls_itself_are_walked_and_those_without_a_path_are_refused(
    tmp_path: Path,
) -> None:
    write(tmp_path, "a.md")
    for name, depth in (("d", 1_200), ("夹" * 80, 20)):
        nest(tmp_path, name, depth)
    found = [(file.key.count("/"), Path(file.key).name, file.refused is None) for file in files_under(tmp_path)]
    subprocess.run(["rm", "-r", *tmp_path.iterdir()], check=True)  # too deep for who clears tmp_path
    assert found == [(0, "a.md", True), (1_200, "深.md", True), (16, "夹" * 80, False)]


def test_a_link_to_itself_is_nobodys_document(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "圈.md").symlink_to(tmp_path / "圈.md")
    assert [found.key for found in files_under(tmp_path)] == ["a.md"]


def test_files_whose_names_differ_only_in_form_are_all_found_under_keys_of_their_own(tmp_path: Path) -> None:
    names = [
        "R\u00e9sum\u00e9.md",
        "Re\u0301sume\u0301.md",
        os.fsdecode("章".encode() + b"\xff.md"),
        os.fsdecode("章".encode() + b"\xfe.md"),
    ]
    write(tmp_path, *names)
    found = list(files_under(tmp_path))
    assert sorted(file.path.name for file in found) == sorted(names)
    assert {file.key for file in found} == {
        "R\u00e9sum\u00e9.md",
        "R\u00e9sum\u00e9 (2).md",
        "章\ufffd.md",
        "章\ufffd (2).md",
    }


def test_pipes_and_sockets_are_no_documents(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    assert [found.key for found in files_under(tmp_path)] == ["a.md"]


def test_a_folder_that_is_not_there_is_no_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        list(files_under(tmp_path / "没有"))


def test_keys_are_the_same_on_every_machine() -> None:
    assert document_key("Re\u0301sume\u0301.md") == document_key("R\u00e9sum\u00e9.md")
    assert document_key("章\\一.md") == "章/一.md"
    assert document_key("/etc/../密.md") == "etc/密.md"
    assert document_key(os.fsdecode(b"\xff.md")) == "\ufffd.md"
    assert document_key("合同\u202efdp.exe\n.md") == "合同\ufffdfdp.exe\ufffd.md"


def test_two_uploads_of_one_name_are_two_documents_and_the_same_file_twice_is_one() -> None:
    first, other = (Upload(name="报告/a.md", sha256=sha256, size_bytes=1) for sha256 in ("aa", "bb"))
    assert upload_keys([first, other, first]) == [("报告/a.md", first), ("报告/a (2).md", other)]


@given(name=st.text(max_size=30))
def test_a_key_never_leaves_its_source(name: str) -> None:
    key = document_key(name)
    assert not key.startswith("/")
    assert ".." not in key.split("/")
    assert document_key(key) == key
