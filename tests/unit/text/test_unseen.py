from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from shared.text.unseen import shown, unseen


@given(st.text(st.characters()))
def test_what_is_shown_has_the_same_length_and_nothing_unseen(text: str) -> None:
    assert unseen(shown(text)) is None
    assert len(shown(text)) == len(text)
    assert not {category(character) for character in shown(text)} & {"Cc", "Cs", "Zl", "Zp"}


def test_names_of_every_writing_are_left_alone() -> None:
    for name in (
        "第三季度报告（终稿）.docx",
        "naïve café.md",
        "می\u200cخواهم.txt",
        "👩\u200d💻.md",
        "שלום.pdf",
        "a b\u00a0c.md",
    ):
        assert shown(name) == name


def test_what_turns_the_reading_round_or_hides_is_shown() -> None:
    assert shown("合同\u202efdp.exe\n\x1b[31m") == "合同\ufffdfdp.exe\ufffd\ufffd[31m"
    assert unseen("年假\u200b") == "\u200b"
