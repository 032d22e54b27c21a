"""Is what was found enough: by names, years, words, rankings; and which blocks go."""

import pytest

from api.agent.ledger import Fetch, Ledger
from api.agent.paths.evidence import Look
from api.agent.paths.sufficiency import Sufficiency, judge, signals, unusable
from api.tools.contract import SeenBlock
from tests.unit.agent.paths.walking import seen
from tests.unit.agent.playing import NOW_MS, SNAPSHOT

FETCH = Fetch(snapshot_id=SNAPSHOT, turn=1, tool="search_blocks", query="", at_ms=NOW_MS)


def look(*blocks: SeenBlock) -> Look:
    return Look(query="", blocks=Ledger().admit(blocks, FETCH).entries, place=2)


LEAVE = seen(0, "员工工作满一年享有五天年假。")
SICK = seen(1, "病假需提交医院证明。")
CAR = seen(2, "停车位按月租用。")


@pytest.mark.parametrize(
    ("question", "looks", "verdict"),
    [
        ("员工的年假有几天？", [look(LEAVE, SICK)], "sufficient"),
        ("员工的年假有几天？", [look()], "insufficient"),
        ("E-4021 是什么？", [look(LEAVE)], "insufficient"),
        ("E-4021 是什么？", [look(seen(3, "错误代码 e-4021：油压过低。"))], "sufficient"),
        ("Q3 的退货率是多少？", [look(seen(3, "第三季度的退货率是 3.2%。"))], "sufficient"),
        ("2024Q3 的退货率是多少？", [look(seen(3, "2024年第三季度的退货率是 3.2%。"))], "sufficient"),
        ("H1 的营收是多少？", [look(seen(3, "上半年的营收是 5 亿元。"))], "sufficient"),
        ("What was revenue in FY2024?", [look(seen(3, "Revenue in fiscal 2024 was 5 million."))], "sufficient"),
        ("12V 的电源接在哪里？", [look(seen(3, "12 V 的电源接在左侧端子。"))], "sufficient"),
        ("ZX-9 的保修期是多久？", [look(seen(3, "ZX9 的保修期是 24 个月。"))], "sufficient"),
        ("COVID-19 期间员工享有几天年假？", [look(seen(3, "新冠期间员工享有七天年假。"))], "ambiguous"),
        ("2023 年 COVID-19 补贴是多少？", [look(seen(3, "2023年的新冠补贴为500元。"))], "ambiguous"),
        ("E-40 是什么？", [look(seen(3, "代码 E-4021：油压过低。"))], "insufficient"),
        ("Q3 的退货率是多少？", [look(CAR)], "insufficient"),
        ("《差旅制度》何时生效？", [look(LEAVE)], "insufficient"),
        ("2023 年的年假有几天？", [look(seen(4, "2022 年停车位按月租用。"))], "insufficient"),
        ("2023 年员工享有几天年假？", [look(seen(4, "2022 年员工享有五天年假。"))], "ambiguous"),
        ("工作餐的补贴标准", [look(CAR)], "ambiguous"),
        ("员工的年假有几天？", [look(LEAVE, SICK), look(LEAVE)], "sufficient"),
        ("员工的年假有几天？", [look(LEAVE), look(CAR)], "ambiguous"),
        ("How many days of annual leave?", [look(LEAVE)], "sufficient"),
        ("How many days of annual leave?", [look(seen(5, "Staff get five days of annual leave."))], "sufficient"),
        ("What does ERR_7 mean?", [look(seen(5, "Staff get five days of annual leave."))], "insufficient"),
    ],
)
def test_the_verdict_follows_what_can_be_observed(question: str, looks: list[Look], verdict: Sufficiency) -> None:
    found = signals(question, looks)
    assert judge(found) == verdict, found


def test_two_documents_that_say_as_much_are_ambiguous() -> None:
    here, there = seen(0, "员工年假按工龄计算。", doc="aaaaaaaa"), seen(0, "员工年假按级别计算。", doc="bbbbbbbb")
    assert judge(signals("员工年假怎样折算成工资？", [look(here, there)])) == "ambiguous"


def test_only_what_touches_nothing_and_came_once_is_unusable() -> None:
    english = seen(6, "Parking is rented by the month.")
    found = unusable("员工的年假有几天？", [look(LEAVE, CAR, english), look(LEAVE)])
    assert found == {CAR.block_id}
    assert unusable("员工的年假有几天？", [look(CAR), look(CAR)]) == frozenset()
