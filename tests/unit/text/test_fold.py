import pytest

from shared.text.fold import fold


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("Straße", "STRASSE"),
        ("café", "CAFE\u0301"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ᾳ", "ΑΙ"),
        ("ERR_TIMEOUT", "err_timeout"),
        ("가", "\u1100\u1161"),
    ],
)
def test_texts_that_differ_in_case_or_composition_only_are_the_same(one: str, another: str) -> None:
    assert fold(one) == fold(another)


@pytest.mark.parametrize(
    ("one", "another"),
    [("快照", "快照 "), ("體", "体"), ("Ａ", "A"), ("é", "e"), ("ｶ", "カ"), ("retry", "retries"), ("ﬁ", "fy")],
)
def test_nothing_else_is_the_same(one: str, another: str) -> None:
    assert fold(one) != fold(another)
