"""Plans as models write them: put in order, or refused with what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.agent.paths.planning import MOST_QUESTIONS, Plan, Refused, filled, needed, read_plan


def question(name: str, text: str = "甲是什么？", *gives: str) -> dict[str, object]:
    return {"id": name, "question": text, "gives": list(gives)}


def read(*questions: object) -> Plan | Refused:
    return read_plan({"questions": list(questions)})


def test_a_question_stands_behind_those_it_takes_from() -> None:
    plan = read(question("b", "{a.姓名}的电话是多少？"), question("a", "泵站由谁负责？", "姓名", "部门"))
    assert isinstance(plan, Plan)
    assert [one.id for one in plan.questions] == ["a", "b"]
    first, second = plan.questions
    assert needed(plan, first) == ("姓名",)
    assert filled(second, {("a", "姓名"): "王工"}) == "王工的电话是多少？"
    assert filled(second, {}) is None


@pytest.mark.parametrize(
    ("questions", "fault", "detail"),
    [
        ([], "no_questions", ""),
        ([question(f"q{n}") for n in range(MOST_QUESTIONS + 1)], "too_many", "6"),
        ([question("a"), {"id": "b"}], "bad_question", "2"),
        ([question("a b")], "bad_question", "1"),
        ([question("a", " ")], "bad_question", "1"),
        ([question("a", "x", "1", "2", "3", "4")], "bad_question", "1"),
        ([question("a"), question("a")], "same_id", "a"),
        ([question("a"), question("b", "{c.name}？")], "unknown_reference", '"{c.name}"'),
        ([question("a", "甲？", "name"), question("b", "{a.phone}？")], "unknown_reference", '"{a.phone}"'),
        ([question("a", "{b.x}？", "x"), question("b", "{a.x}？", "x")], "cycle", "a, b"),
        ([question("a", "{a.x}？", "x")], "cycle", "a"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused_with_its_fault(
    questions: list[dict[str, object]], fault: str, detail: str
) -> None:
    assert read(*questions) == Refused(fault=fault, detail=detail)  # pyright: ignore[reportArgumentType]  # parametrized


@given(
    st.recursive(
        st.none() | st.text(max_size=8) | st.integers(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["id", "question", "gives", "questions"]), inner)
        ),
    )
)
def test_reading_a_plan_never_fails(value: object) -> None:
    assert isinstance(read_plan({"questions": json.loads(json.dumps(value))}), Plan | Refused)


NAMES = st.sampled_from("abcde")


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=2), min_size=1, max_size=5))
def test_whatever_is_accepted_needs_nothing_that_comes_later(needs: dict[str, list[str]]) -> None:
    plan = read(
        *(question(name, "？".join(f"{{{one}.x}}" for one in others) or "甲", "x") for name, others in needs.items())
    )
    if isinstance(plan, Plan):
        done: set[str] = set()
        for one in plan.questions:
            assert {name for name, _ in one.takes} <= done
            done.add(one.id)
        assert done == set(needs)
