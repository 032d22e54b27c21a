"""What two sequences have in common costs what was agreed, whatever they hold."""

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from api.web.alike import Patience, opcodes
from api.web.run_prompts import Part
from api.web.text_diff import text_parts

PIECES = st.lists(st.sampled_from(["年", "假", "，", "1", "leave"]), max_size=30)


@given(PIECES, PIECES)
def test_with_patience_enough_it_is_what_difflib_finds(old: list[str], new: list[str]) -> None:
    assert opcodes(old, new, Patience()) == SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def test_likenesses_that_lie_scattered_are_given_up_before_their_third_power_is_spent() -> None:
    """1 000 commas between numbers that are all different: each comma that is found leads to one more look at all the others."""
    before = "".join(f"，{n}" for n in range(1_000))
    after = "".join(f"，{n}" for n in range(5_000, 6_000))
    looks = Patience(steps=2_000_000)
    assert text_parts(before, after, looks) == (Part(kind="removed", text=before), Part(kind="added", text=after))
    assert not looks.suffices(0)


def test_a_change_in_a_long_answer_is_far_within_patience() -> None:
    before = "".join(f"第{n}条规定，年假为{n % 9}天。\n" for n in range(150))
    told = text_parts(before, before.replace("第77条", "第七十七条"), Patience(steps=2_000_000))
    assert [part.kind for part in told] == ["same", "removed", "added", "same"]
