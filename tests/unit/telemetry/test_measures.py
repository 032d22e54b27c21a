"""Durations in buckets, and what is read out of them again."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from shared.telemetry.measures import BUCKETS_S, bucket_of, quantile

SECONDS = st.floats(min_value=0, max_value=250)


@given(st.lists(SECONDS, min_size=1, max_size=60), st.sampled_from([0.5, 0.95]))
def test_a_quantile_lies_in_the_bucket_of_the_value_it_stands_for(seconds: list[float], share: float) -> None:
    found = quantile(Counter(map(bucket_of, seconds)), share)
    wanted = next(value for place, value in enumerate(sorted(seconds), 1) if place >= share * len(seconds) - 1e-9)
    place = bucket_of(wanted)
    assert found is not None
    assert (BUCKETS_S[place - 1] if place else 0.0) - 1e-9 <= found <= BUCKETS_S[place] + 1e-9


def test_of_nothing_there_is_no_quantile_and_beyond_the_last_bucket_its_end_is_told() -> None:
    assert quantile({}, 0.5) is None
    assert quantile({bucket_of(9_999): 3}, 0.5) == BUCKETS_S[-1]
