"""The ledger names the question that a block was fetched for, whatever words were searched with."""

import json

from tests.unit.agent.paths.walking import seen, walked
from tests.unit.agent.playing import Played, result, search

QUESTION = "工作餐的补贴标准是多少？"
LUNCH = seen(5, "工作餐每天补贴二十元。")
CAR = seen(2, "停车位按月租用。")
ANSWER = f"Action: Finish[工作餐每天补贴二十元【来源：{LUNCH.block_id}】。]"


def as_json(**value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def fetched_for(played: Played) -> dict[str, str]:
    return {entry.block_id: entry.query for entry in played.outcome.ledger.entries}


def test_a_rewording_is_not_the_question() -> None:
    script = [
        as_json(query="餐补标准"),
        result(CAR),
        as_json(queries=["餐补", "补助"]),
        result(LUNCH),
        result(LUNCH),
        ANSWER,
    ]
    played = walked("pipeline", QUESTION, script)
    assert [call.arguments["query"] for call in played.called] == ["餐补标准", "餐补", "补助"]
    assert fetched_for(played) == {LUNCH.block_id: QUESTION}


def test_an_imagined_passage_is_not_the_question() -> None:
    imagined = "公司为在岗员工提供若干元的用餐补助。"
    script = [
        as_json(query="餐补"),
        result(),
        as_json(query="福利"),
        as_json(passage=imagined),
        result(LUNCH),
        result(),
        ANSWER,
    ]
    played = walked("pipeline", QUESTION, script)
    assert imagined in [call.arguments["query"] for call in played.called]
    assert fetched_for(played) == {LUNCH.block_id: QUESTION}


def test_a_name_that_is_scanned_for_stands_for_its_whole_question() -> None:
    found = seen(3, "E-4021：油压过低。")
    played = walked("pipeline", "E-4021 是什么意思？", [result(), result(found), result(), "Action: Refuse[没有]"])
    assert [call.tool for call in played.called] == ["search_blocks", "scan_term", "search_blocks"]
    assert fetched_for(played) == {found.block_id: "E-4021 是什么意思？"}


def test_a_part_of_a_plan_is_named_and_so_is_a_claim_that_is_looked_up_again() -> None:
    plan = as_json(questions=[{"id": "a", "question": QUESTION}, {"id": "b", "question": "停车位怎么租？"}])
    played = walked("plan", "工作餐补贴和停车位？", [plan, result(LUNCH), result(CAR), ANSWER])
    assert fetched_for(played) == {LUNCH.block_id: QUESTION, CAR.block_id: "停车位怎么租？"}
    checked = as_json(verdicts={"1": "supported"})
    played = walked("verify", QUESTION, [search("餐补"), result(LUNCH), ANSWER, result(LUNCH, CAR), checked])
    assert fetched_for(played) == {LUNCH.block_id: "餐补", CAR.block_id: "工作餐每天补贴二十元。"}
