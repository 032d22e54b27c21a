"""How the verification judges sentences that a person judged: whatever is not sure is unchecked, and nearly nothing false is supported."""

from collections.abc import Sequence
from typing import get_args

import pytest

from api.agent.verify import check
from shared.types.runs import Verdict
from tests.unit.agent.claims import FRESH, PAIRS, TWISTED, TWISTED_FRESH, Pair


def judged(pairs: Sequence[Pair], *, says_so: bool) -> dict[Verdict, list[str]]:
    """The sentences by verdict."""
    found: dict[Verdict, list[str]] = {verdict: [] for verdict in get_args(Verdict)}
    for pair in pairs:
        if pair.says_so == says_so:
            found[check(pair.sentence, [pair.evidence]).verdict].append(pair.sentence)
    return found


def share(found: dict[Verdict, list[str]], verdict: Verdict) -> float:
    return len(found[verdict]) / sum(map(len, found.values()))


def test_the_set_is_large_enough_to_mean_something_and_half_chinese() -> None:
    chinese = [pair for pair in PAIRS if any("\u4e00" <= sign <= "\u9fff" for sign in pair.sentence)]
    assert len(PAIRS) >= 120
    assert 0.4 < len(chinese) / len(PAIRS) < 0.6
    assert len({pair.kind for pair in PAIRS}) > 10


def test_nothing_false_is_supported_nothing_true_unsupported_and_most_of_both_is_decided() -> None:
    true, false = judged(PAIRS, says_so=True), judged(PAIRS, says_so=False)
    assert false["supported"] == []
    assert true["unsupported"] == []
    assert share(true, "supported") >= 0.8
    assert share(false, "unsupported") >= 0.8


def test_on_pairs_that_the_rules_were_not_made_for_a_false_support_is_rare_too() -> None:
    true, false = judged(FRESH, says_so=True), judged(FRESH, says_so=False)
    assert true["unsupported"] == []
    assert share(false, "supported") <= 0.1
    assert share(true, "supported") >= 0.8


@pytest.mark.parametrize("pairs", [TWISTED, TWISTED_FRESH], ids=["twisted", "twisted, fresh"])
def test_what_its_source_says_of_another_or_under_a_condition_or_denies_is_hardly_ever_supported(
    pairs: Sequence[Pair],
) -> None:
    true, false = judged(pairs, says_so=True), judged(pairs, says_so=False)
    assert true["unsupported"] == []
    assert share(false, "supported") <= 0.05
    assert share(true, "supported") >= 0.8
