"""A whole strict run on a figure per something, in another currency or in another unit: what the answer says of itself."""

import json

import pytest

from shared.llm.scripted import ScriptedChat
from tests.contract.agent.asking import ask
from tests.contract.tools.world import World
from tests.factories import a_document

PUMP = (
    "The pump HX-9 delivers 2.5 litres per second. The pump HX-9 costs €4,500. A cable of it weighs 12 kg.\n\n"
    "离心泵甲的流量为每秒2.5升。离心泵甲的价格为4500欧元。离心泵甲的底座重12公斤。\n"
)
RIGHT = [
    "The pump HX-9 delivers 150 L/min.",
    "The pump HX-9 delivers 9 m³/h.",
    "The pump HX-9 costs 4 500 euros.",
    "离心泵甲的流量为每分钟150升。",
    "离心泵甲的价格（欧元）：4500。",
    "离心泵甲的底座重0.012吨。",
]
WRONG = [
    "The pump HX-9 delivers 2.5 litres per minute.",
    "The pump HX-9 costs 4,500 francs.",
    "The price of the pump HX-9 in dollars is 4,500.",
    "离心泵甲的流量为每分钟2.5升。",
    "离心泵甲的价格为4500刀。",
    "离心泵甲的价格（美元）：4500。",
]
UNPROVED = [
    "The pump HX-9 costs 4,500 wibbles.",
    "A cable of it weighs 12 kg per metre.",
    "离心泵甲的底座重12公斤/米。",
]


@pytest.fixture
def pumps(world: World) -> World:
    world.publish(a_document("pump.md", PUMP, title="Pump HX-9"))
    return world


def strictly(world: World, sentence: str) -> tuple[str, list[str], int]:
    """Its status, its limitations, and how often the model was called: the same answer each time."""
    query = "离心泵甲" if "离" in sentence else "pump HX-9"
    found = world.call("search_blocks", {"query": query}).payload["blocks"][0]["block_id"]
    answer = f"Action: Finish[{sentence}【来源：{found}】]"
    chat = ScriptedChat([f"Action: search_blocks[{json.dumps({'query': query})}]", answer, answer])
    asked = ask(world, query, chat=chat, path="agent", citation_mode="strict")
    return asked.answer.status, asked.codes(), len(chat.requests)


@pytest.mark.parametrize("sentence", RIGHT)
def test_the_same_figure_in_another_unit_is_a_complete_answer(pumps: World, sentence: str) -> None:
    assert strictly(pumps, sentence) == ("complete", [], 2)


@pytest.mark.parametrize("sentence", WRONG)
def test_another_rate_or_currency_is_dropped(pumps: World, sentence: str) -> None:
    assert strictly(pumps, sentence) == ("refused", ["claims_dropped", "no_citation"], 3)


@pytest.mark.parametrize("sentence", UNPROVED)
def test_a_rate_or_currency_that_the_source_lacks_goes_to_the_repair_and_is_named(pumps: World, sentence: str) -> None:
    assert strictly(pumps, sentence) == ("partial", ["citation_unproved"], 3)
