"""Which sentence of an answer a mark stands at."""

from hypothesis import given
from hypothesis import strategies as st

from api.web.run_sentences import MOST_PLACES, Sentences
from shared.types.runs import ClaimCheck, Verdict

SENTENCES = st.sampled_from(["年假五天。", "假五", "餐费另计。", "Leave is five days.", "没有的话。"])
VERDICTS = st.sampled_from(["supported", "unsupported", "unchecked"])
CLAIMS = st.lists(
    st.builds(ClaimCheck, sentence=SENTENCES, markers=st.sampled_from([(1,), (2,), (1, 2), ()]), verdict=VERDICTS)
)


@given(said=st.lists(SENTENCES).map("".join), claims=CLAIMS, marker=st.sampled_from([1, 2]), before=st.integers(0, 60))
def test_it_is_the_last_one_before_it_that_has_the_mark(
    said: str, claims: list[ClaimCheck], marker: int, before: int
) -> None:
    expected: Verdict | None = None
    begins = -1
    for claim in claims:
        place = said.rfind(claim.sentence, 0, before) if marker in claim.markers else -1
        if place > begins:
            begins, expected = place, claim.verdict
    assert Sentences(said, claims).verdict(marker, before=before) == expected


def test_a_sentence_that_stands_everywhere_with_every_mark_is_given_up() -> None:
    everywhere = ClaimCheck(sentence="年", markers=tuple(range(MOST_PLACES)), verdict="supported")
    assert Sentences("年" * 100, [everywhere, everywhere]).verdict(2, before=100) == "supported"
    assert Sentences("年", [ClaimCheck(sentence="", markers=(1,), verdict="supported")]).verdict(1, before=1) is None
