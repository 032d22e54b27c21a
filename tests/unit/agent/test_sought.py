import re
import sys

import pytest

from api.agent.opposites import AXES, NEGATION
from api.agent.sought import Searched, Sought, words


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("上涨|下跌", {"上涨", "下跌"}),
        (r"\b(?:rose|rise[ns]?|increas\w*)\b", {"rose", "rise", "increas"}),
        (r"不(?:得|能)?(?:超过|多于)", {"超过", "多于"}),
        (r"(?<!不)低于(?!零)", {"低于"}),
        (r"\bclosed?s?\b", {"close"}),
        (r"\b(?:a|per) (?:day|week)\b", {"day", "week"}),
        (r"每[天日]|每个?月", {"每天", "每日", "每月", "每个月"}),
        (r"colou?r|fibr{0,2}e|x+yz{2}|[^q]uay", {"color", "colour", "fib", "x", "uay"}),
        (r"(?:ab|b)c|a[b)]d(?=e)", {"c", "abd", "a)d"}),
        (r"Fail|fail\.safe", {"fail"}),
        (r"\w+", {""}),
    ],
)
def test_the_words_of_a_pattern_are_those_that_every_match_has_one_of(source: str, expected: set[str]) -> None:
    assert words(source) == expected


@pytest.mark.parametrize("source", ["a)", "(?:a", "[a"])
def test_a_pattern_that_is_not_understood_is_refused_at_once(source: str) -> None:
    with pytest.raises(ValueError, match="unbalanced"):
        words(source)


@pytest.mark.parametrize(
    "text",
    ["Prices FELL.", "价格下跌。", "prices ſtopped falling", "Kept: İt fell", "\u0131nternal", "bro\u212aen loc\u212a"],
)
def test_a_word_is_found_however_its_letters_are_written(text: str) -> None:
    for sought in (NEGATION, *(one for sides in AXES for one in sides)):
        assert sought.all_in(Searched(text)) == [match.span() for match in sought.pattern.finditer(text)]


def test_all_other_characters_that_stand_for_an_ascii_letter_are_known() -> None:
    every = "".join(map(chr, (*range(0x80, 0xD800), *range(0xE000, sys.maxunicode + 1))))
    odd = set(re.findall("[a-z]", every, re.IGNORECASE))
    assert odd
    assert [one for one in odd if Searched(one).plain is not None] == []


def test_a_pattern_is_found_in_every_piece_between_punctuation_that_has_a_word_of_it() -> None:
    text = "价格上涨；Prices fell, then fell again，产量下跌。下跌、上涨\n不下跌"
    where = Searched(text)
    sought = Sought(r"(?<!不)下跌|\bfell\b(?! again)")
    assert [text[start:end] for start, end in sought.all_in(where)] == ["fell", "下跌", "下跌"]


def test_no_pattern_looks_at_the_punctuation_that_pieces_end_with() -> None:
    for sought in (NEGATION, *(one for sides in AXES for one in sides)):
        source = re.sub(r"\(\?(?:i?:|<?[=!])|\{\d*,?\d*\}|(?<=[\w)\]])\?", "", sought.pattern.pattern)
        assert not set("。，；：！？、,;:!?\n") & set(source), source


def test_a_text_without_the_words_is_not_Searched() -> None:
    where = Searched("水泵每天运行。The pump runs.")
    assert Sought("上涨|下跌").may_be_in(where) is False
    assert Sought("每天|每周").may_be_in(where) is True
