"""A question beside the conversation is asked only while the run itself can still be paid for and has the time for it."""

import pytest

from api.agent.ending import Steps
from api.agent.paths.asides import aside
from api.agent.state import State
from shared.types.runs import Limits
from tests.unit.agent.playing import Played, play, says

SAID, ASKED = 1_000, 500  # tokens: a character each
LIMITS = Limits(
    max_context_tokens=4_000, max_request_tokens=6_000, finalization_reserve_tokens=1_000
)  # 300 for a reply


def beside(*, limits: Limits = LIMITS, elapsed_ms: int = 0, last: bool = False) -> Played:
    """A conversation of SAID tokens and, beside it, a question of ASKED; each message costs 5 more."""

    def steps(state: State) -> Steps:
        state.talk.say("user", "问" * SAID)
        state.elapsed_ms = elapsed_ms
        found = yield from aside(state, "rewrite", "问" * ASKED, lambda given: given, last=last)
        return state.broken("asked" if found else "not_asked", "")

    return play([says('{"query": "年假"}')], limits=limits, around=lambda _, state: steps(state))


@pytest.mark.parametrize(
    ("limits", "asked"),
    [
        (LIMITS, True),
        (Limits(max_context_tokens=2_510, max_request_tokens=6_000, finalization_reserve_tokens=1_000), True),
        (Limits(max_context_tokens=2_509, max_request_tokens=6_000, finalization_reserve_tokens=1_000), False),
        (Limits(max_context_tokens=4_000, max_request_tokens=4_620, finalization_reserve_tokens=1_000), True),
        (Limits(max_context_tokens=4_000, max_request_tokens=4_619, finalization_reserve_tokens=1_000), False),
    ],
)
def test_what_the_run_sends_next_must_still_fit_and_be_paid_for(limits: Limits, asked: bool) -> None:
    played = beside(limits=limits)
    assert len(played.asked) == asked
    assert played.outcome.reason == ("asked" if asked else "not_asked")
    assert not asked or played.asked[0].input_tokens == ASKED + 5


@pytest.mark.parametrize(("elapsed_ms", "asked"), [(89_999, True), (90_000, False)])
def test_the_time_that_is_kept_back_for_the_answer_is_not_for_it(elapsed_ms: int, asked: bool) -> None:
    assert len(beside(elapsed_ms=elapsed_ms).asked) == asked


def test_the_last_one_may_take_what_the_answer_has_left() -> None:
    tight = Limits(max_context_tokens=ASKED + 5, max_request_tokens=ASKED + 5 + 300, finalization_reserve_tokens=1_000)
    assert len(beside(limits=tight, last=True).asked) == 1
    assert len(beside(elapsed_ms=119_999, last=True).asked) == 1
    assert len(beside(elapsed_ms=120_000, last=True).asked) == 0
    for less in (
        Limits(max_context_tokens=ASKED + 4),
        Limits(max_request_tokens=ASKED + 5 + 299, finalization_reserve_tokens=1_000),
    ):
        assert len(beside(limits=less, last=True).asked) == 0
