"""The gain brake on the paths: it ends the rewording of a question, never the look-up of another one."""

import json

from api.agent.steps import Braked
from tests.unit.agent.finished import finish
from tests.unit.agent.paths.walking import purposes, seen, walked
from tests.unit.agent.playing import Played, Scripted, result
from tests.unit.agent.texts import ZH

LEAVE = seen(0, "员工工作满一年享有五天年假。")
MEAL = seen(5, "工作餐每天补贴二十元。")
ANSWER = f"Action: Finish[员工工作满一年享有五天年假【来源：{LEAVE.block_id}】。]"


def planned(*script: Scripted, parts: tuple[str, ...]) -> Played:
    listed = [{"id": f"q{n}", "question": text} for n, text in enumerate(parts)]
    return walked("plan", "年假和餐补？", [json.dumps({"questions": listed}, ensure_ascii=False), *script, ANSWER])


def brakes(played: Played) -> list[str]:
    return [note.kind for note in played.notes if isinstance(note, Braked)]


REWORDED = json.dumps({"queries": ["伙食补助", "用餐标准"]}, ensure_ascii=False)


def test_words_that_bring_nothing_new_twice_are_the_last_for_their_question_and_the_answer_is_whole() -> None:
    same = result(LEAVE, MEAL)
    parts = ("员工工作满一年享有几天年假？", "工作餐每天补贴多少元？", "津贴怎么发放？")
    played = planned(same, same, same, REWORDED, same, parts=parts)
    assert purposes(played)[1:] == ["search", "search", "search", "multi_query", "multi_query", "answer"]
    assert brakes(played) == ["brake_gain"]
    verified = finish(played.outcome, wording=ZH)
    assert (verified.status, verified.limitations) == ("complete", ())


def test_words_that_bring_something_new_are_followed_by_the_next() -> None:
    found = seen(7, "出差补助每天八十元。")
    known, new = result(LEAVE, MEAL), result(found)
    played = planned(known, known, REWORDED, new, new, parts=("员工工作满一年享有几天年假？", "津贴怎么发放？"))
    assert purposes(played).count("multi_query") == 3
    assert brakes(played) == []


def test_parts_that_find_the_same_few_blocks_are_all_looked_up() -> None:
    parts = (
        "员工工作满一年享有几天年假？",
        "工作餐每天补贴多少元？",
        "员工年假几天？",
        "工作餐补贴二十元吗？",
        "工作满一年的员工年假？",
    )
    played = planned(*[result(LEAVE, MEAL)] * len(parts), parts=parts)
    assert [call.arguments["query"] for call in played.called] == list(parts)
    assert brakes(played) == []
    assert finish(played.outcome, wording=ZH).status == "complete"


def test_what_is_insufficient_is_looked_for_another_way_whatever_the_first_ones_brought() -> None:
    known = result(LEAVE, MEAL)
    played = planned(known, known, known, result(), parts=("员工工作满一年享有几天年假？", "E-4021 是什么？"))
    assert purposes(played) == ["decompose", "search", "search", "scan", "search", "answer"]
    assert brakes(played) == []
