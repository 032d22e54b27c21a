import pytest

from api.retrieval.scan import Occurrences, occurrences, snippet
from shared.text.fold import fold


def find(text: str, term: str) -> tuple[int, str] | None:
    """How often, and the first occurrence as it stands in the text."""
    at = occurrences(text, fold(text), fold(term))
    return None if at is None else (at.count, text[at.start : at.end])


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("年假按工龄计算，年假不得跨年。", "年假", (2, "年假")),
        ("Annual Leave and annual leave", "ANNUAL LEAVE", (2, "Annual Leave")),
        ("aaaa", "aa", (2, "aa")),
        ("Die Straße ist groß", "STRASSE", (1, "Straße")),
        ("Die Straße ist groß", "gross", (1, "groß")),
        ("İstanbul'da", "i̇stanbul", (1, "İstanbul")),
        ("Cafe\u0301 noir", "café", (1, "Cafe\u0301")),
        ("Café noir", "cafe\u0301", (1, "Café")),
        ("ﬁnal ﬁgures", "figure", (1, "ﬁgure")),
        ("한국어", "한", (1, "한")),
        ("错误码ＥＲＲ_1042", "ｅｒｒ_1042", (1, "ＥＲＲ_1042")),
        ("第一行\n第二行", "行\n第", (1, "行\n第")),
        ("第一行\n第二行", "行第", None),
        ("错误码ＥＲＲ", "err", None),  # width is not case
        ("Café", "cafe", None),  # an accent is not case
        ("年 假", "年假", None),
    ],
)
def test_a_term_is_found_letter_by_letter_with_its_case_and_composition_ignored(
    text: str, term: str, expected: tuple[int, str] | None
) -> None:
    assert find(text, term) == expected


def test_an_occurrence_after_letters_that_fold_longer_is_where_it_stands_in_the_text() -> None:
    text = "ßßßßß 报销 ﬃ"

    assert occurrences(text, fold(text), fold("报销")) == Occurrences(count=1, start=6, end=8)


def test_an_occurrence_inside_one_letter_shows_the_whole_letter() -> None:
    text = "Maßstab"

    assert occurrences(text, fold(text), fold("ss")) == Occurrences(count=1, start=2, end=3)
    assert occurrences(text, fold(text), fold("as")) == Occurrences(count=1, start=1, end=3)


def test_a_snippet_has_sixty_characters_on_each_side() -> None:
    text = "前" * 100 + "报销" + "后" * 100

    assert snippet(text, 100, 102) == (40, 162)
    assert snippet("报销单", 0, 2) == (0, 3)


@pytest.mark.parametrize(
    "whole",
    ["e\u0301", "각", "👩\u200d👩\u200d👧", "👍🏽", "🇨🇳", "\r\n", "नि", "❤️"],
    ids=lambda whole: whole.encode("unicode_escape").decode(),
)
def test_a_snippet_never_cuts_a_visible_character(whole: str) -> None:
    for filler in range(len(whole) + 1):
        text = whole * 20 + "x" * filler + "报销" + "x" * filler + whole * 20
        start = text.index("报销")
        first, last = snippet(text, start, start + 2, around=7)

        assert text[:first] == whole * (first // len(whole))
        assert text[last:] == whole * ((len(text) - last) // len(whole))
