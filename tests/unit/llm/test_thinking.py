import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.llm.thinking import ThinkSplitter


def split(*pieces: str) -> tuple[str, str]:
    splitter = ThinkSplitter()
    parts = [*map(splitter.feed, pieces), splitter.finish()]
    return "".join(text for text, _ in parts), "".join(reasoning for _, reasoning in parts)


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("答案是 42。", "答案是 42。", ""),
        ("<think>先查手册</think>\n\n答案", "答案", "先查手册"),
        ("\n <think>a</think>b", "b", "a"),
        ("<think></think>b", "b", ""),
        ("<think>a < b </thin c</think>d", "d", "a < b </thin c"),
        ("<think>never ends", "", "never ends"),
        ("<think>never ends</thin", "", "never ends</thin"),
        ("<thin", "<thin", ""),
        ("  <thinking>", "  <thinking>", ""),
        ("text <think>a</think>", "text <think>a</think>", ""),
        ("<think>a</think>b<think>c</think>", "b<think>c</think>", "a"),
        ("  ", "  ", ""),
        ("", "", ""),
    ],
)
def test_only_a_leading_think_is_reasoning(content: str, text: str, reasoning: str) -> None:
    assert split(content) == (text, reasoning)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "</th", "想", " ", "\n", "a"]), max_size=8), st.data())
def test_the_split_does_not_depend_on_where_the_pieces_were_cut(words: list[str], data: st.DataObject) -> None:
    content = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=8)))
    pieces = [content[start:end] for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    assert split(*pieces) == split(content) == split(*content)


@given(st.text(alphabet="<>/think 想\n"))
def test_nothing_but_marks_and_white_space_is_lost(content: str) -> None:
    text, reasoning = split(content)
    left = (reasoning + text).replace("<think>", "").replace("</think>", "").split()
    assert "".join(left) == "".join(content.replace("<think>", "").replace("</think>", "").split())
