"""Requests a minute."""

from hypothesis import given
from hypothesis import strategies as st

from api.rates import Rates
from shared.ids import KeyId

KEY, OTHER = KeyId("key_a"), KeyId("key_b")


def test_a_minute_s_requests_may_come_at_once_and_then_as_they_grow_back() -> None:
    at_s = 100.0
    rates = Rates(now_s=lambda: at_s)
    assert [rates.take(KEY, 3) for _ in range(4)] == [None, None, None, 20.0]
    assert rates.take(OTHER, 3) is None
    at_s += 20
    assert [rates.take(KEY, 3) for _ in range(2)] == [None, 20.0]


@given(per_minute=st.integers(1, 100), pauses=st.lists(st.floats(0, 30), max_size=300))
def test_in_no_stretch_of_time_are_more_let_through_than_a_minute_s_and_what_grew_in_it(
    per_minute: int, pauses: list[float]
) -> None:
    at_s = 0.0
    rates = Rates(now_s=lambda: at_s)
    allowed: list[float] = []
    for pause in pauses:
        at_s += pause
        if rates.take(KEY, per_minute) is None:
            allowed.append(at_s)
    for first, begun in enumerate(allowed):
        for last in range(first, len(allowed)):
            assert last - first + 1 <= per_minute + (allowed[last] - begun) * per_minute / 60 + 1e-6
