from hypothesis import given, settings
from hypothesis import strategies as st

from api.web.run_prompts import Part
from api.web.text_diff import MOST_PIECES, text_parts

WORDS = st.text(alphabet="年假有五天三, .a\nbc12 ", max_size=60)


@given(WORDS, WORDS)
def test_parts_put_together_are_the_two_texts(before: str, after: str) -> None:
    told = text_parts(before, after)
    assert "".join(part.text for part in told if part.kind != "added") == before
    assert "".join(part.text for part in told if part.kind != "removed") == after
    assert all(part.text for part in told)


@settings(max_examples=3)
@given(st.integers(MOST_PIECES, MOST_PIECES + 9))
def test_long_texts_are_compared_by_lines_and_still_whole(length: int) -> None:
    before, after = "年" * length + "\n假", "年" * length + "\n期"
    told = text_parts(before, after)
    assert told == (
        Part(kind="same", text="年" * length + "\n"),
        Part(kind="removed", text="假"),
        Part(kind="added", text="期"),
    )


def test_chinese_is_compared_by_characters_and_english_by_words() -> None:
    assert text_parts("员工每年有五天年假。", "员工每年有三天年假。") == (
        Part(kind="same", text="员工每年有"),
        Part(kind="removed", text="五"),
        Part(kind="added", text="三"),
        Part(kind="same", text="天年假。"),
    )
    assert text_parts("Five days of leave", "Thirty days of leave") == (
        Part(kind="removed", text="Five"),
        Part(kind="added", text="Thirty"),
        Part(kind="same", text=" days of leave"),
    )


def test_a_letter_in_common_by_chance_does_not_tear_a_change_apart() -> None:
    told = text_parts("红茶密封保存三年。", "绿茶冷藏保鲜一年。")
    assert [part.kind for part in told] == ["removed", "added"] or told[-1].text.endswith("年。")
    assert len(told) <= 3
