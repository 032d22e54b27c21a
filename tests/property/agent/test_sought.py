"""A pattern is found just as often with its words looked up first."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.agent.opposites import AXES, NEGATION
from api.agent.sought import Searched, Sought

SOUGHT = (NEGATION, *(one for sides in AXES for one in sides))
AROUND = st.text(st.sampled_from("水泵不得超过前后每天日。，a not ſıK"), max_size=8)


@pytest.mark.parametrize("sought", SOUGHT, ids=lambda one: one.words[0])
@settings(max_examples=20)
@given(data=st.data())
def test_no_match_is_missed(sought: Sought, data: st.DataObject) -> None:
    found = data.draw(st.from_regex(sought.pattern))
    text = data.draw(AROUND) + found + data.draw(AROUND)
    assert sought.all_in(Searched(text)) == [one.span() for one in sought.pattern.finditer(text)]
