import pytest

from shared.text.sentences import sentences


@pytest.mark.parametrize(
    "cut",
    [
        "快照已发布。|指针随后切换！|真的吗？？|是的。",
        "他说：“先过滤，再召回。”|然后走了。",
        "π约为3.14，v2.1.3修复了它。|下一句。",
        "“为什么？”的答案在第3.2节。",
        "等等……|也许吧。",
        "他走了.|然后回来了.",
        "能用吗?|不能!|为何?",
        "Dr. Smith paid $3.50 for v2.1.3. |See https://a.example/b?c=d.e for more. |Done.",
        "See Fig. 3 and Eq. 4 (cf. No. 5), e.g. this one. |J. K. Rowling wrote it.",
        'He said "no." |Then he left!! |"Really?" she asked.',
        "It ended at 5 p.m. |The next day it began again.",
        "Open config.yaml, etc. and save it. |Then quit.",
        "1. 第一步\n|2. 第二步\n|- 第三步",
        "标题\n\n|正文第一句。|正文第二句。",
        "A line that is long enough to have been wrapped by its page width\nand goes on here. |Next.",
        "It took the judges a whole day to get over it.[66] |He won a total\nof nine prizes. |Then he left.",
        "The pump is to be inspected by\nthe operator every morning. |Then\nit starts.",
        "本合同自双方签字盖章之日起生效，有效期\n为三年，期满前三十日内双方可以协商续签\n一次。|下一句。",
        "这位作家在当年的评选中感到意外。[73] |她共获得九个\n奖项",
        "年假规定\n|员工工作满一年享有五天年假，当年用完。",
        "## A heading that is so long that it looks like a line of prose\n|Its text.",
        "apples\n|pears\n|plums",
        "| a | b |\n|| 1 | 2 |\n|",
        "姓名：张三\n|电话：12345\n",
        "   leading blanks stay. |Here.",
    ],
)
def test_a_text_is_cut_where_its_sentences_end(cut: str) -> None:
    table = cut.startswith("| a")
    expected = ["| a | b |\n", "| 1 | 2 |\n"] if table else cut.split("|")
    text = "".join(expected)
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_no_text_has_no_sentences_and_blanks_are_one() -> None:
    assert sentences("") == []
    assert sentences(" \n\n ") == [(0, 4)]
