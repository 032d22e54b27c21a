from hypothesis import given
from hypothesis import strategies as st

from worker.parsers.plain import elements_of
from worker.parsers.types import Element

REGULATION = """星河精密仪器有限公司考勤办法

第一章 总则
第一条 为规范考勤与休假管理，制定本办法。
第二条 本办法适用于全体正式员工；实习生参照执行。

第二章 工作时间
有下列情形之一的，可以申请弹性工作：
（一）子女未满三周岁的；
（二）单程通勤超过九十分钟的。
"""


def _headings(text: str) -> list[tuple[int, str]]:
    return [(element.level, element.text) for element in elements_of(text) if element.kind == "heading"]


def test_a_chinese_regulation_has_its_title_and_chapters_as_headings() -> None:
    assert _headings(REGULATION) == [(1, "星河精密仪器有限公司考勤办法"), (3, "第一章 总则"), (3, "第二章 工作时间")]


def test_articles_and_items_are_elements_of_their_own() -> None:
    texts = [(element.kind, element.text) for element in elements_of(REGULATION) if element.kind != "heading"]
    assert texts == [
        ("paragraph", "第一条 为规范考勤与休假管理，制定本办法。"),
        ("paragraph", "第二条 本办法适用于全体正式员工；实习生参照执行。"),
        ("paragraph", "有下列情形之一的，可以申请弹性工作："),
        ("list_item", "（一）子女未满三周岁的；"),
        ("list_item", "（二）单程通勤超过九十分钟的。"),
    ]


def test_numbered_and_underlined_lines_are_headings() -> None:
    text = "Report\n======\n\n1 Scope\n\nWords about the scope.\n\n1.1 Terms\n\nMore words.\n\n2 Results\n\nNumbers.\n"
    assert _headings(text) == [(1, "Report\n======"), (8, "1 Scope"), (9, "1.1 Terms"), (8, "2 Results")]


def test_a_numbered_list_is_not_taken_for_headings() -> None:
    assert _headings("步骤如下：\n\n1. 打开电源\n2. 等待三秒\n3. 按下按钮\n\n完成。\n") == []
    assert _headings("一、苹果\n二、梨\n三、桃\n") == []


def test_a_lone_number_or_a_sentence_is_no_heading() -> None:
    assert _headings("前文。\n\n7 days later\n\n后文。\n") == []
    assert _headings("前文。\n\n第一章规定了总则的全部内容，并且说明了适用范围。\n\n后文。\n") == []
    assert _headings("前文。\n\n3.5 % of all cases\n\n后文。\n") == []


def test_a_table_of_contents_does_not_make_empty_sections() -> None:
    text = "目录\n\n第一章 总则\n第二章 附则\n\n第一章 总则\n正文一。\n\n第二章 附则\n正文二。\n"
    assert _headings(text) == [(3, "第一章 总则"), (3, "第二章 附则")]


def test_a_wrapped_sentence_stays_in_one_paragraph() -> None:
    text = "The calibration laboratory in Kunming keeps\nits own roster. It is renewed\nevery month.\n"
    assert [element.text for element in elements_of(text)] == [text.rstrip()]


def test_a_line_end_after_a_full_stop_and_a_blank_line_are_told_apart() -> None:
    assert [element.tight for element in elements_of("甲。\n乙。\n\n丙。\n")] == [False, True, False]


@given(st.text(alphabet=st.sampled_from("第一章节、。1.（） \n\tab总=-#*"), max_size=200))
def test_every_visible_character_is_in_exactly_one_element(text: str) -> None:
    def visible(shown: str) -> str:
        return "".join(shown.split())

    assert visible("".join(element.text for element in elements_of(text))) == visible(text)


@given(st.text(max_size=300))
def test_no_text_makes_it_fail(text: str) -> None:
    assert all(isinstance(element, Element) for element in elements_of(text))
