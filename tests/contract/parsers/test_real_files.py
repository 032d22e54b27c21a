"""Files as people bring them, with what is expected of each (files/README.md beside the checkout)."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from msgspec import Struct

from shared.errors import DocumentError
from tests.conftest import MATERIAL
from worker.parsers import ParserPool

pytestmark = pytest.mark.slow

# Known deviations, with their reasons; the test fails when one of them heals.
NOT_YET = {
    "markitdown-test.rtf": "the capitals that are expected are nowhere in the file, neither as letters nor as a style",
    "kaoqin-gbk-names.zip": "an archive is unpacked by the import, not by a parser",
}


class ListedFile(Struct, frozen=True, kw_only=True):
    file: str
    expect: Literal["ok", "reject"]
    must_contain: tuple[str, ...] = ()
    reason_if_reject: str | None = None
    also_allowed: Literal["ok", "reject"] | None = None
    hidden_text: tuple[str, ...] = ()


def _manifest() -> list[ListedFile]:
    manifest = MATERIAL / "files" / "manifest.jsonl"
    if not manifest.is_file():
        return []
    decoder = msgspec.json.Decoder(ListedFile)
    return [decoder.decode(line) for line in manifest.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("listed", _manifest(), ids=lambda listed: listed.file)
def test_a_file_gives_its_text_or_its_reason(listed: ListedFile, parsers: ParserPool, material: Path) -> None:
    outcome, text = _outcome(parsers, material / "files" / listed.file)
    allowed = {listed.expect, listed.also_allowed}
    agrees = (
        "reject" in allowed and (listed.expect == "ok" or outcome == listed.reason_if_reject)
        if outcome != "ok"
        else "ok" in allowed and all(_plain([wanted]) in text for wanted in listed.must_contain)
    )
    assert agrees is (listed.file not in NOT_YET)
    assert not any(_plain([hidden]) in text for hidden in listed.hidden_text)


@pytest.mark.parametrize("name", ["kaoqin-gb2312.html", "kaoqin.xlsx"])
def test_hidden_text_leaves_a_flag(name: str, parsers: ParserPool, material: Path) -> None:
    elements = parsers.parse(material / "files" / name, name=name).elements
    assert any("hidden_text_removed" in element.flags for element in elements)


@pytest.mark.parametrize(
    "name",
    [
        "kaoqin.md",
        "kaoqin.docx",
        "kaoqin.odt",
        "kaoqin.pdf",
        "kaoqin-rotated.pdf",
        "kaoqin-two-columns.pdf",
        "kaoqin.epub",
    ],
)
def test_one_regulation_has_the_same_chapters_in_every_format(name: str, parsers: ParserPool, material: Path) -> None:
    parsed = parsers.parse(material / "files" / name, name=name)
    headings = [element.title or element.text for element in parsed.elements if element.kind == "heading"]
    assert parsed.title == "星河精密仪器有限公司考勤与休假管理办法"
    assert [text for text in headings if text.startswith("第")] == [
        "第一章 总则",
        "第二章 工作时间",
        "第三章 休假",
        "第四章 附则",
    ]


def _outcome(parsers: ParserPool, path: Path) -> tuple[str, str]:
    try:
        parsed = parsers.parse(path, name=path.name)
    except DocumentError as error:
        return error.code, ""
    return "ok", _plain(element.text for element in parsed.elements)


_WIDE = r"[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003fffd]"


def _plain(texts: Iterable[str]) -> str:
    """As the files' README compares: NFC, no soft hyphens, one blank for white space, none beside wide characters."""
    text = unicodedata.normalize("NFC", "\n".join(texts)).replace("\u00ad", "")
    return re.sub(f"(?<={_WIDE}) | (?={_WIDE})", "", re.sub(r"\s+", " ", text))
