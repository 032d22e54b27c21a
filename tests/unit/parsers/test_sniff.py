import io
import zipfile

import pytest

from shared.errors import DocumentError
from worker.parsers.sniff import sniff
from worker.parsers.source import File

HTML = "<!DOCTYPE html><html><body><p>正文</p></body></html>".encode()
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def _zip(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/"), data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.docx", b"%PDF-1.7\n", "pdf"),
        ("a.pdf", _zip(**{"[Content_Types].xml": b"", "word__document.xml": b""}), "docx"),
        ("a.zip", _zip(**{"[Content_Types].xml": b"", "xl__workbook.xml": b""}), "xlsx"),
        ("a", _zip(mimetype=b"application/epub+zip"), "epub"),
        ("a", _zip(mimetype=b"application/vnd.oasis.opendocument.text"), "odt"),
        ("a.doc", b"{\\rtf1 x}", "rtf"),
        ("a.xls", HTML, "html"),
        ("a.xls", "假别,天数\n事假,15\n".encode("gb18030"), "csv"),
        ("a.txt", HTML, "html"),
        ("a.txt", "第一章 总则\n".encode(), "text"),
        ("a.md", "# 总则\n".encode(), "markdown"),
        ("a.md", HTML, "markdown"),
        ("a.json", b"{}", "json"),
        ("a.py", b"x = 1\n", "code"),
        ("a.xml", b"<?xml version='1.0'?><a/>", "xml"),
        ("a", b"From: a@example.org\nTo: b@example.org\nSubject: hi\n\nbody\n", "eml"),
        ("笔记", "随手记\n".encode(), "text"),
        ("a.odt", b"no zip, just words\n", "text"),
    ],
)
def test_content_goes_before_the_extension(name: str, data: bytes, kind: str) -> None:
    assert sniff(File(data=data, name=name)) == kind


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \r\n\t ", "empty"),
        ("a.pdf", b"\x89PNG\r\n\x1a\n", "unsupported"),
        ("a.zip", _zip(a=b"x"), "unsupported"),
        ("a.docx", b"PK\x03\x04truncated", "corrupt"),
        ("a.doc", OLE + "WordDocument".encode("utf-16-le"), "unsupported"),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        ("a.exe", b"MZ\x90\x00\x03\x00\x00\x00\x04\x00", "unsupported"),
        ("a.bin", bytes(range(256)) * 8, "unreadable"),
    ],
)
def test_what_can_t_be_read_has_its_own_code(name: str, data: bytes, code: str) -> None:
    with pytest.raises(DocumentError) as error:
        sniff(File(data=data, name=name))
    assert error.value.code == code


def test_a_zip_bomb_is_turned_away_by_what_it_claims() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(60 * 1024 * 1024))
    with pytest.raises(DocumentError) as error:
        sniff(File(data=buffer.getvalue(), name="a.docx"))
    assert error.value.code == "too_large"
