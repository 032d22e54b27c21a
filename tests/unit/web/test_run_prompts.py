"""What is new in a prompt: nothing of it is lost or made up."""

from hypothesis import given
from hypothesis import strategies as st

from api.web.alike import Patience
from api.web.run_prompts import MOST_LINES, Message, differences, messages, parts
from tests.unit.web.factories import a_prompt

TEXTS = st.lists(st.sampled_from(["年假五天。\n", "年假十天。\n", "berth 12 EUR\r\n", "\n", "末行", "a\u2028b"])).map(
    "".join
)
PROMPTS = st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXTS), max_size=6)


def text(message: Message, *, now: bool) -> str:
    left_out = "removed" if now else "added"
    return "".join(part.text for part in message.parts if part.kind != left_out)


@given(before=TEXTS, after=TEXTS)
def test_the_parts_of_a_difference_are_both_texts(before: str, after: str) -> None:
    found = parts(before, after)
    assert "".join(one.text for one in found if one.kind != "removed") == after
    assert "".join(one.text for one in found if one.kind != "added") == before


@given(before=PROMPTS, after=PROMPTS)
def test_the_messages_of_a_difference_are_both_prompts(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    found = differences(before, after)
    assert [(one.role, text(one, now=True)) for one in found if one.fate != "removed"] == after
    assert [(one.role, text(one, now=False)) for one in found if one.fate != "added"] == before


@given(prompt=PROMPTS)
def test_the_first_prompt_and_the_same_again_have_nothing_new(prompt: list[tuple[str, str]]) -> None:
    assert {one.fate for one in differences(None, prompt)} <= {"first"}
    assert {one.fate for one in differences(prompt, prompt)} <= {"same"}


def test_a_message_that_changed_shows_the_lines_that_did() -> None:
    before = [("system", "规则\n库中有 3 篇\n完\n"), ("user", "问")]
    after = [("system", "规则\n库中有 4 篇\n完\n"), ("user", "问"), ("user", "结果")]
    changed, same, added = differences(before, after)
    assert [(one.kind, one.text) for one in changed.parts] == [
        ("same", "规则\n"),
        ("removed", "库中有 3 篇\n"),
        ("added", "库中有 4 篇\n"),
        ("same", "完\n"),
    ]
    assert (changed.fate, same.fate, added.fate) == ("changed", "same", "added")


def test_what_is_too_long_to_compare_is_replaced_as_a_whole() -> None:
    before, after = "".join(f"甲{n}\n" for n in range(MOST_LINES)), "".join(f"乙{n}\n" for n in range(MOST_LINES))
    assert [one.kind for one in parts("头\n" + before, "头\n" + after)] == ["same", "removed", "added"]


def test_messages_are_read_as_they_were_sent() -> None:
    assert messages(a_prompt(("system", "规则"), ("user", "问"))) == (("system", "规则"), ("user", "问"))
    ((role, said),) = messages('[{"role":"assistant","content":null,"tool_calls":[{"id":"call_1"}]}]')
    assert role == "assistant"
    assert "call_1" in said
    assert messages("不是 JSON") == (("", "不是 JSON"),)


def test_when_patience_is_used_up_prompts_are_shown_without_differences() -> None:
    patience = Patience(steps=4)
    one, other = (("user", "问"),), (("user", "答"), ("user", "问"))
    assert [found.fate for found in differences(one, other, patience)] == ["added", "same"]
    assert [found.fate for found in differences(other, other, patience)] == ["first", "first"]
    assert [found.kind for found in parts("甲\n乙\n丙", "甲\n丁\n丙", patience)] == ["same", "removed", "added", "same"]
