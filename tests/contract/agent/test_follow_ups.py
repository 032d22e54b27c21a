"""A question that names nothing by itself, on every path: what is searched for is what the conversation is about."""

import json

import pytest

from api.agent.run import Exchange
from shared.llm.scripted import ScriptedChat
from shared.types.events import ToolCalled, TurnStarted
from shared.types.runs import PathName
from tests.contract.agent.asking import ask
from tests.contract.tools.world import World
from tests.factories import a_document

FALCON = a_document("项目/猎鹰.md", title="猎鹰", sections={"概况": ["猎鹰项目由王强负责，于2021年3月开始。\n"]})
BEACON = a_document("项目/灯塔.md", title="灯塔", sections={"概况": ["灯塔项目什么时候开始的：于2019年5月开始。\n"]})
TALK = (Exchange(question="猎鹰项目由谁负责？", answer="王强。"),)
QUESTION = "什么时候开始的？"


@pytest.fixture
def projects(world: World) -> World:
    world.publish(FALCON, BEACON)
    return world


def test_without_a_model_the_thing_spoken_of_is_searched_for_and_quoted(projects: World) -> None:
    asked = ask(projects, QUESTION, history=TALK)
    assert json.loads(asked.of(ToolCalled)[0].arguments) == {"query": "猎鹰项目什么时候开始的？"}
    assert "2021年3月" in asked.answer.text
    assert "灯塔" not in asked.answer.text


@pytest.mark.parametrize("path", ["pipeline", "plan", "agent", "verify"])
def test_with_a_model_every_path_that_searches_first_has_the_question_put_into_words(
    projects: World, path: PathName
) -> None:
    words = json.dumps({"question": "猎鹰项目是哪一年开始的？"}, ensure_ascii=False)
    chat = ScriptedChat([words, *["Action: Refuse[没有。]"] * 6])
    asked = ask(projects, QUESTION, chat=chat, path=path, history=TALK)
    assert asked.of(TurnStarted)[0].purpose == "standalone"
    assert "猎鹰项目是哪一年开始的？" in chat.requests[1].messages[-1].content


def test_on_the_path_that_searches_nothing_the_model_reads_the_conversation(projects: World) -> None:
    chat = ScriptedChat(["2021年。"])
    ask(projects, QUESTION, chat=chat, path="direct", history=TALK)
    assert "猎鹰项目由谁负责？" in chat.requests[0].messages[-1].content


def test_a_name_that_only_an_answer_gave_is_what_a_pronoun_means_where_no_question_named_one(projects: World) -> None:
    talk = (Exchange(question="多少钱？", answer="X-200 的价格是三万元。"),)
    asked = ask(projects, "它的寿命有多长？", history=talk)
    assert json.loads(asked.of(ToolCalled)[0].arguments) == {"query": "X-200的寿命有多长？"}
