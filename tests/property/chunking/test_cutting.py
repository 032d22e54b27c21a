"""Where blocks begin and end: examples, each for one rule of spec/03 "From elements to blocks"."""

import pytest

from shared.errors import DocumentError
from shared.ids import DocId
from shared.text.tokens import count_tokens
from tests.property.chunking.documents import cut, parsed
from worker.parsers import Element
from worker.stages.chunk import chunk

SENTENCE = "夜班津贴为每班人民币76元，次月随工资发放，遇节假日顺延。"


def _paragraph(text: str, *, page: int | None = None, page_last: int | None = None) -> Element:
    return Element(kind="paragraph", text=text, page=page, page_last=page_last)


def _heading(text: str, level: int = 1) -> Element:
    return Element(kind="heading", text=text, level=level)


def test_no_block_crosses_a_section() -> None:
    content = cut(_paragraph("前言。"), _heading("第一章"), _paragraph("甲。"), _heading("第二章"), _paragraph("乙。"))
    assert [(block.section_path, block.text) for block in content.blocks] == [
        ("/", "前言。\n\n"),
        ("第一章", "第一章\n\n甲。\n\n"),
        ("第二章", "第二章\n\n乙。"),
    ]


def test_a_heading_without_text_is_a_section_with_one_block() -> None:
    content = cut(_heading("第一章 总则"), _heading("第一节", 2), _paragraph("正文。"))
    assert [section.own_blocks for section in content.sections] == [1, 1]
    assert content.sections[0].first_sentence == ""


def test_long_prose_is_cut_between_sentences() -> None:
    content = cut(_paragraph(SENTENCE * 10))
    assert len(content.blocks) > 1
    assert all(block.text.strip().endswith("。") for block in content.blocks)


def test_a_sentence_that_is_too_long_is_cut_at_its_clauses() -> None:
    content = cut(_paragraph("一是按时到岗，二是如实打卡，三是提前请假，" * 8 + "完。"))
    assert all(block.text.endswith("，") for block in content.blocks[:-1])


def test_a_run_without_any_mark_is_cut_anywhere_and_nothing_is_lost() -> None:
    content = cut(_paragraph("无标点" * 400))
    assert "".join(block.text for block in content.blocks) == "无标点" * 400


@pytest.mark.parametrize("kind", ["table", "code", "list_item"])
def test_what_fits_stays_whole(kind: str) -> None:
    text = "\n".join(f"第{row}行 | 值{row}" for row in range(6))
    whole = Element(kind=kind, text=text)  # pyright: ignore[reportArgumentType]
    content = cut(_paragraph(SENTENCE), whole, _paragraph(SENTENCE), max_tokens=100)
    assert any(text in block.text for block in content.blocks)


def test_a_table_that_is_too_long_is_cut_between_rows_and_shows_its_header_again() -> None:
    rows = [f"假别{row} | {row} | {row}% | 直属主管" for row in range(40)]
    table = Element(kind="table", text="\n".join(["假别 | 天数上限 | 工资比例 | 审批人", *rows]), header_rows=1)
    content = cut(table)
    assert [block.table_header for block in content.blocks] == [
        "",
        *["假别 | 天数上限 | 工资比例 | 审批人"] * (len(content.blocks) - 1),
    ]
    assert all(
        line in ["假别 | 天数上限 | 工资比例 | 审批人", *rows]
        for block in content.blocks
        for line in block.text.splitlines()
    )
    assert all(count_tokens(block.table_header) + block.tokens <= 64 for block in content.blocks)
    assert {block.flags for block in content.blocks} == {("table",)}


def test_code_that_is_too_long_is_cut_between_lines() -> None:
    lines = [f"value_{number} = compute({number})  # 第{number}个" for number in range(60)]
    content = cut(Element(kind="code", text="\n".join(lines)))
    assert [line for block in content.blocks for line in block.text.splitlines()] == lines


def test_a_small_rest_joins_the_block_before_it() -> None:
    content = cut(_paragraph(SENTENCE * 2), _paragraph("完。"), target_tokens=40, max_tokens=80)
    assert len(content.blocks) == 1


def test_a_heading_stands_with_the_first_sentences_under_it() -> None:
    content = cut(_heading("第三章 休假与津贴"), _paragraph(SENTENCE * 10))
    assert content.blocks[0].text.startswith("第三章 休假与津贴\n\n" + SENTENCE[:5])


def test_equal_titles_get_a_number_and_a_separator_in_a_title_is_none_in_the_path() -> None:
    content = cut(
        _heading("附表"), _heading("附表"), _heading("附表 (2)"), _heading("甲 › 乙"), _heading("/"), _heading("丙", 2)
    )
    assert [section.path for section in content.sections] == [
        "附表",
        "附表 (2)",
        "附表 (2) (2)",
        "甲 > 乙",
        "/ (2)",
        "/ (2) › 丙",
    ]


def test_skipped_and_returning_levels_nest_by_what_encloses_them() -> None:
    content = cut(_heading("一", 1), _heading("二", 4), _heading("三", 3), _heading("四", 1))
    assert [(section.path, section.depth, section.parent) for section in content.sections] == [
        ("一", 1, None),
        ("一 › 二", 2, 0),
        ("一 › 三", 2, 0),
        ("四", 1, None),
    ]


def test_a_block_tells_its_first_and_last_page() -> None:
    content = cut(_paragraph("甲。", page=2), _paragraph("乙。", page=3, page_last=4))
    assert [(block.page_first, block.page_last) for block in content.blocks] == [(2, 4)]


def test_the_source_s_word_on_the_language_wins() -> None:
    content = chunk(
        parsed(_paragraph("GPIO 12, UART 3")),
        doc_id=DocId("k3f9a2qd"),
        version=1,
        target_tokens=40,
        max_tokens=64,
        lang_hint="zh",
    )
    assert content.lang == "zh"
    assert cut(_paragraph("夜班津贴为每班人民币76元。")).lang == "zh"


def test_an_outline_shows_the_first_sentence_under_a_heading() -> None:
    assert cut(_heading("总则"), _paragraph("第一句。第二句。")).sections[0].first_sentence == "第一句。"


def test_elements_without_text_are_no_document() -> None:
    with pytest.raises(DocumentError) as error:
        cut(_paragraph("  \n "))
    assert error.value.code == "empty"
