"""What nobody has shown never leaves unqualified, however a run ends."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from api.agent.decisions import Ending, Finish
from api.agent.ledger import Fetch, Ledger
from api.agent.steps import Outcome
from shared.types.runs import CitationMode, Limitation, Usage
from tests.factories import NOW_MS
from tests.unit.agent.finished import finish
from tests.unit.agent.playing import DOC, SNAPSHOT, block
from tests.unit.agent.texts import EN, ZH

FETCH = Fetch(snapshot_id=SNAPSHOT, turn=1, tool="search_blocks", query="年假", at_ms=NOW_MS)
LEDGER = Ledger().admit(
    (block(0, "员工工作满一年享有五天年假。"), block(1, "The seal wears out after 12,000 operating hours.")), FETCH
)
PIECES = (
    f"员工工作满一年享有五天年假。【来源：{DOC}.v1#0】",
    f"员工享有99天年假。【来源：{DOC}.v1#0】",
    f"The seal wears out after 12,000 operating hours [source: {DOC}.v1#1].",
    f"The seal wears out after 12 kg [source: {DOC}.v1#1].",
    "病假最多十二天，自2019年起。",
    "李娜负责采购部。",
    "The pump is safe for food.",
    "It was built by Borealis in 2019.",
    "文档没有直接说明，不过退货率是 9.9%，由张三负责。",
    "The documents do not mention the price, but it is 40 EUR.",
    "文档没有提到病假。",
    "您好，退货率是 8.8%。",
    "您是指 7.7% 的退货率吗？",
    "您指的是哪一年？",
    "第四季度是 6.6%：",
    "## 第 5 章 3.5 kg",
    "推断：大约需要 50 天。",
    "来源【来源：nowhere.v1#9】如此。",
    "\n\n",
    "\n- ",
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map(" ".join).filter(str.strip)


@given(
    text=TEXTS,
    ending=st.sampled_from(get_args(Ending)),
    mode=st.sampled_from(get_args(CitationMode)),
    looked_up=st.booleans(),
    wording=st.sampled_from([ZH, EN]),
)
def test_an_unsupported_claim_in_the_delivered_text_comes_with_a_limitation_and_is_never_complete(
    text: str, ending: Ending, mode: CitationMode, looked_up: bool, wording: object
) -> None:
    outcome = Outcome(
        ending=Finish(thought="", ending=ending, text=text, kept=text),
        reason="finished",
        closed=None,
        ledger=LEDGER,
        spent=Usage(),
        limitations=() if looked_up else (Limitation(code="not_looked_up", text="…"),),
        turns=2,
    )
    verified = finish(outcome, wording=ZH if wording is ZH else EN, mode=mode)
    assert verified.text.strip()
    if any(one.verdict == "unsupported" for one in verified.checks):
        assert mode == "flag"
        assert verified.status != "complete"
        assert {one.code for one in verified.limitations} - {"not_looked_up", "citation_removed"}
    invented = (
        "99",
        "12 kg",
        "2019",
        "9.9%",
        "8.8%",
        "7.7%",
        "6.6%",
        "3.5",
        "40 EUR",
        *(["李娜", "safe"] if ending == "answer" else []),
    )
    left = [one for one in invented if one in verified.text]
    if mode == "strict":
        assert left == []
    elif ending == "answer":
        assert not left or [one for one in verified.checks if one.verdict != "supported"]
