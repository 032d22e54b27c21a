"""A window is believed for a while, and no longer than it can be true."""

from hypothesis import given
from hypothesis import strategies as st

from shared.llm.port import ChatUsage
from shared.llm.window import BELIEVED_S, LearnedWindow

TOKENS = st.integers(1, 10**6)


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_it_is_forgotten_after_its_time_and_believed_anew_when_told_again() -> None:
    clock = Clock()
    window = LearnedWindow(clock)
    assert window.tokens is None
    window.refused(8_192)
    clock.now_s += BELIEVED_S - 1
    assert window.tokens == 8_192
    clock.now_s += 1
    assert window.tokens is None
    window.refused(None)
    assert window.tokens is None
    window.refused(4_096)
    assert window.tokens == 4_096


@given(TOKENS, TOKENS, TOKENS)
def test_a_call_that_was_answered_tells_whether_it_can_be_true(told: int, sent: int, received: int) -> None:
    window = LearnedWindow(Clock())
    window.refused(told)
    window.answered(None)
    window.answered(ChatUsage(input_tokens=sent, output_tokens=received, reasoning_tokens=0))
    assert window.tokens == (None if sent + received > told else told)
