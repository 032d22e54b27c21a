import zipfile
from pathlib import Path

import pytest

from shared.errors import DocumentError
from worker.stages.unpack import Archive, Packed, member_name


def packed(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_members_come_sorted_with_their_bytes(tmp_path: Path) -> None:
    archive = Archive(packed(tmp_path / "a.zip", **{"乙.md": "second", "a/甲.md": "第一"}))
    read = {member.name: "" for member in archive.members()}
    for member in archive.members():
        with archive.reading(member) as file:
            read[member.name] = file.read().decode()
    archive.close()
    assert list(read.items()) == [("a/甲.md", "第一"), ("乙.md", "second")]


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8"])
def test_a_name_without_the_utf8_flag_is_read_as_what_it_is(encoding: str) -> None:
    info = zipfile.ZipInfo("考勤/请假制度.md".encode(encoding).decode("cp437"))
    info.flag_bits = 0
    assert member_name(info) == "考勤/请假制度.md"


def test_a_gbk_archive_from_a_windows_machine_opens_with_its_names(material: Path) -> None:
    archive = Archive(material / "files" / "kaoqin-gbk-names.zip")
    names = [member.name for member in archive.members()]
    archive.close()
    assert names == ["资料/星河精密仪器有限公司考勤与休假管理办法.txt", "资料/读我.md"]


def test_a_password_is_its_own_reason(tmp_path: Path) -> None:
    data = bytearray(packed(tmp_path / "a.zip", a="text").read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag in the central directory
    (tmp_path / "locked.zip").write_bytes(data)
    with pytest.raises(DocumentError) as refused:
        Archive(tmp_path / "locked.zip")
    assert refused.value.code == "encrypted"


def test_no_zip_at_all_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes("不是压缩包".encode())
    with pytest.raises(DocumentError) as refused:
        Archive(tmp_path / "a.zip")
    assert refused.value.code == "corrupt"


def test_a_member_that_is_damaged_says_so_when_it_is_read(tmp_path: Path) -> None:
    data = bytearray(packed(tmp_path / "a.zip", a="甲" * 900).read_bytes())
    data[40] ^= 0xFF  # inside the compressed bytes
    archive = Archive(packed_bytes(tmp_path / "b.zip", data))
    (member,) = archive.members()
    with pytest.raises(DocumentError) as refused:
        read_all(archive, member)
    archive.close()
    assert refused.value.code == "corrupt"


def packed_bytes(path: Path, data: bytearray) -> Path:
    path.write_bytes(data)
    return path


def read_all(archive: Archive, member: Packed) -> bytes:
    with archive.reading(member) as file:
        return file.read()
