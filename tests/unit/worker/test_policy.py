"""How long to wait after a fault."""

from hypothesis import given
from hypothesis import strategies as st

from worker.advance import pause_s
from worker.stages.embed import LONGEST_WAIT_S, TRIES, retry_wait_s

ASKED = st.none() | st.floats(0, 10_000)


@given(asked=ASKED)
def test_a_batch_is_tried_a_few_times_and_never_sooner_than_the_provider_asks(asked: float | None) -> None:
    waits = [retry_wait_s(tries, asked) for tries in range(1, TRIES + 1)]
    assert waits[-1] is None
    for wait_s in waits[:-1]:
        assert wait_s is None or (asked or 0.0) <= wait_s <= LONGEST_WAIT_S


@given(faults=st.integers(0, 10_000), asked=ASKED)
def test_pauses_grow_up_to_a_quarter_of_an_hour_and_never_undercut_the_provider(
    faults: int, asked: float | None
) -> None:
    assert pause_s(faults, asked) >= (asked or 0.0)
    assert pause_s(faults, None) <= pause_s(faults + 1, None) <= 900.0
    assert pause_s(0, None) == 15.0
