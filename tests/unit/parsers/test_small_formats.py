"""Formats whose files are short enough to write here."""

import pytest

from shared.errors import DocumentError
from worker.parsers import delimited, rtf, structured, xml
from worker.parsers.sheets import sheet_elements
from worker.parsers.source import File
from worker.parsers.tables import table
from worker.parsers.types import Element


def test_a_table_has_a_row_a_line_and_cells_on_one() -> None:
    element = table([["假别", "天数"], ["事\n假", ""], ["", ""], ["病假", "90"]], header_rows=1)
    assert element == Element(kind="table", text="假别 | 天数\n事 假\n病假 | 90", header_rows=1)
    assert table([["", " "]]) is None


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_csv_s_delimiter_is_found(delimiter: str) -> None:
    rows = ["假别,天数,工资比例", "事假,15,0%", "病假,90,80%"]
    file = File(data="\n".join(row.replace(",", delimiter) for row in rows).encode("gb18030"), name="a.csv")
    assert delimited.read(file).elements == (
        Element(kind="table", text="假别 | 天数 | 工资比例\n事假 | 15 | 0%\n病假 | 90 | 80%", header_rows=1),
    )


def test_a_csv_cell_may_hold_a_line_end_and_a_delimiter() -> None:
    file = File(data='甲,"乙,\n丙"\n1,2\n'.encode(), name="a.csv")
    assert delimited.read(file).elements[0].text == "甲 | 乙, 丙\n1 | 2"


def test_a_sheet_is_divided_at_blank_rows_and_a_lone_cell_heads_its_table() -> None:
    rows = [["假别一览"], ["假别", "天数"], ["事假", "15"], [""], ["合计", "15"]]
    assert list(sheet_elements(rows, page=1)) == [
        Element(kind="paragraph", text="假别一览", page=1),
        Element(kind="table", text="假别 | 天数\n事假 | 15", header_rows=1, page=1),
        Element(kind="table", text="合计 | 15", page=1),
    ]


def test_rich_text_is_read_in_its_code_page_with_hidden_text_left_out() -> None:
    chinese = "".join(f"\\'{byte:02x}" for byte in "夜班津贴".encode("gb18030"))
    data = (
        r"{\rtf1\ansi\ansicpg936{\fonttbl{\f0\fcharset134 SimSun;}}{\info{\title Pay}}"
        rf"{{\outlinelevel0 \u31456?\par}}\pard {chinese} 76\par{{\v secret}}\trowd\intbl a\cell b\cell\row\pard end\par}}"
    )
    parsed = rtf.read(File(data=data.encode("ascii"), name="a.rtf"))
    assert parsed.title == "Pay"
    assert parsed.elements == (
        Element(kind="heading", text="章", level=2),
        Element(kind="paragraph", text="夜班津贴 76"),
        Element(kind="table", text="a | b"),
        Element(kind="paragraph", text="end", flags=("hidden_text_removed",)),
    )


def test_json_shows_its_escapes_as_characters_and_stays_json() -> None:
    file = File(data=rb'{"a": "\u591c\u73ed", "b": "\u0022\\u0041", "c": 1.10}', name="a.json")
    assert structured.read_json(file).elements[0].text == r'{"a": "夜班", "b": "\u0022\\u0041", "c": 1.10}'


def test_json_on_one_long_line_is_laid_out() -> None:
    data = ("[" + ",".join(f'{{"编号": {number}}}' for number in range(500)) + "]").encode()
    text = structured.read_json(File(data=data, name="a.json")).elements[0].text
    assert text.startswith('[\n  {\n    "编号": 0\n  },')


def test_source_code_keeps_its_extension_in_the_title() -> None:
    parsed = structured.read(File(data="def 限额():\n    return 15\n".encode(), name="假期.py"))
    assert (parsed.title, parsed.elements[0].kind) == ("假期.py", "code")


def test_xml_is_read_by_its_titles_and_paragraphs() -> None:
    data = "<a><title>总则</title><p>甲<b>乙</b>丙</p><sec><title>第一节</title><p>丁</p></sec></a>".encode()
    assert [
        (element.kind, element.level, element.text) for element in xml.read(File(data=data, name="a.xml")).elements
    ] == [
        ("heading", 1, "总则"),
        ("paragraph", 0, "甲乙丙"),
        ("heading", 2, "第一节"),
        ("paragraph", 0, "丁"),
    ]


def test_an_xml_bomb_is_not_expanded() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    data = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "x">{entities}]><a><p>正文 &e8;</p></a>'.encode()
    with pytest.raises(DocumentError) as error:
        xml.read(File(data=data, name="a.xml"))
    assert error.value.code == "corrupt"
