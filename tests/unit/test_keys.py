"""Secrets of keys, and what their ceilings leave."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.errors import InvalidArgument
from shared.keys import check_ceiling, is_secret_of, key_id_of, limits_under, new_secret, prefix_of, secret_sha256
from shared.types.keys import KeyLimits
from shared.types.runs import Limits

POSITIVE = st.none() | st.integers(1, 10**9)


def test_a_secret_names_its_key_and_is_256_bits_that_no_other_key_has() -> None:
    made = [new_secret() for _ in range(50)]
    assert all(key_id_of(secret) == key_id and secret.startswith(f"{prefix_of(key_id)}_") for key_id, secret in made)
    assert len({secret[13:] for _, secret in made}) == 50
    assert all(re.fullmatch(r"cbk_[a-z2-7]{8}_[A-Za-z0-9_-]{43}", secret) for _, secret in made)


def test_a_secret_is_recognised_by_its_hash_alone() -> None:
    _, secret = new_secret()
    kept = secret_sha256(secret)
    assert secret not in kept
    assert is_secret_of(secret, kept)
    assert not is_secret_of(secret[:-1] + ("A" if secret[-1] != "A" else "B"), kept)


@given(st.text() | st.from_regex(r"cbk_\w{0,10}_\S{0,50}", fullmatch=True))
def test_whatever_is_sent_is_a_secret_s_form_or_none(text: str) -> None:
    found = key_id_of(text)
    assert found is None or prefix_of(found) == text[:12]


@given(
    ceiling=st.builds(
        KeyLimits,
        max_context_tokens=POSITIVE,
        max_request_tokens=POSITIVE,
        max_tool_calls=POSITIVE,
        finalization_reserve_tokens=POSITIVE,
        max_wall_seconds=POSITIVE,
    )
)
def test_a_ceiling_only_ever_lowers_a_limit(ceiling: KeyLimits) -> None:
    under, limits = limits_under(Limits(), ceiling), Limits()
    for name, most in structs.asdict(ceiling).items():
        assert getattr(under, name) == min(getattr(limits, name), most or 10**9)


def test_each_of_a_run_s_limits_can_have_a_ceiling() -> None:
    assert set(KeyLimits.__struct_fields__) == set(Limits.__struct_fields__)


def test_a_ceiling_beneath_which_no_run_fits_is_refused() -> None:
    with pytest.raises(InvalidArgument) as refused:
        check_ceiling(Limits(), KeyLimits(max_context_tokens=4_000))
    assert refused.value.field == "limits.max_context_tokens"
    check_ceiling(Limits(), KeyLimits(max_context_tokens=4_001))
    check_ceiling(Limits(), KeyLimits(max_context_tokens=4_000, finalization_reserve_tokens=1_000))
