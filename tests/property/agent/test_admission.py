"""A result that would have fitted is never refused for its bytes."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from api.agent.budget import MESSAGE_TOKENS, Refused, admit, refused_by_bytes
from api.agent.metering import Context, Rates
from api.agent.observation import envelope
from api.tools.payload import encoded
from shared.text.tokens import count_tokens
from shared.types.runs import Limits, Usage
from tests.unit.agent.playing import block

_PIECES = st.sampled_from((" ", "\n", "\t", "-", "=", "年假", "\u2028", "\x00", '"', "a", "é", "🙂", " the"))
_TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=200),
    st.lists(st.tuples(_PIECES, st.integers(1, 2_000)), max_size=4).map(
        lambda runs: "".join(piece * times for piece, times in runs)
    ),
)


@settings(deadline=None)  # the encoder is read at the first example
@given(_TEXTS, st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.fractions(1, 4, max_denominator=100))
def test_what_is_refused_by_its_bytes_does_not_fit_when_it_is_counted(
    text: str, context_room: int, request_room: int, used: int, a_token: Fraction
) -> None:
    limits = Limits(
        max_context_tokens=100 + used + context_room,
        max_request_tokens=100 + used + request_room,
        finalization_reserve_tokens=100,
    )
    context, spent, rates = Context(anchored=used), Usage(), Rates(a_token=a_token)
    payload = encoded(block(0, text))
    counted = count_tokens(envelope("ok", tool="list_blocks", payload=payload)) + MESSAGE_TOKENS

    by_bytes = refused_by_bytes(len(payload), context=context, spent=spent, limits=limits, rates=rates)

    if by_bytes is not None:
        verdict = admit(counted, context=context, spent=spent, limits=limits, rates=rates)
        assert isinstance(verdict, Refused)
        assert (verdict.code, verdict.room, verdict.limit) == (by_bytes.code, by_bytes.room, by_bytes.limit) or (
            verdict.code == "context_budget_exceeded"  # the one that is asked first, and let its bytes pass
        )
        assert by_bytes.tokens <= verdict.tokens
