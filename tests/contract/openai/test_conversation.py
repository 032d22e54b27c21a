"""From a client's messages to a question with its history; automatic requests told from people's."""

import pytest
from msgspec import structs

from api.agent.run import Exchange
from api.desk import MAX_QUESTION
from api.openai_compat.citations import footer
from api.openai_compat.conversation import history_of, question_of
from api.openai_compat.shapes import ContentPart, InMessage
from api.openai_compat.tasks import Task, answer_task, task_of
from shared.errors import InvalidArgument
from shared.types.runs import Limitation
from tests.unit.telemetry.factories import a_record


def user(*texts: str) -> InMessage:
    return InMessage(role="user", content=tuple(ContentPart(type="text", text=text) for text in texts))


def said(text: str) -> InMessage:
    return InMessage(role="assistant", content=text)


def test_the_last_user_message_is_the_question_even_when_others_follow_it() -> None:
    assert question_of([user("一"), said("二"), user("年假", "几天？"), said("嗯")]) == "年假\n几天？"


def test_earlier_exchanges_are_the_history_without_system_and_tool_messages() -> None:
    messages = [
        InMessage(role="system", content="You are a pirate."),
        user("Who approves leave?"),
        said("The manager. [1]"),
        InMessage(role="tool", content="{}"),
        user("那么"),
        user("年假几天？"),
        said("五天。[1]"),
        user("病假呢？"),
    ]
    assert history_of(messages) == (
        Exchange(question="Who approves leave?", answer="The manager. [1]"),
        Exchange(question="那么\n年假几天？", answer="五天。[1]"),
    )


def test_a_question_that_was_never_answered_stays_with_the_next_one() -> None:
    assert history_of([user("一？"), said(""), user("二？"), said("答"), user("三？")]) == (
        Exchange(question="一？\n二？", answer="答"),
    )


def test_the_list_of_sources_that_we_appended_does_not_come_back_as_history() -> None:
    answer = a_record().answer
    shown = answer.text + footer(answer, lambda citation: f"http://127.0.0.1/{citation.block_id}")
    assert history_of([user("住宿费？"), said(shown), user("那餐费？")])[0].answer == answer.text


@pytest.mark.parametrize("question", ["食堂几点开门？", "When does the canteen open?"])
def test_limitations_that_we_appended_to_an_answer_without_sources_do_not_come_back_either(question: str) -> None:
    limits = (Limitation(code="brake_count", text="a\n> b"), Limitation(code="snapshot_partial", text="缺少一份文档。"))
    answer = structs.replace(
        a_record().answer, question=question, text="没有。\n\n> 引文", citations=(), limitations=limits
    )
    shown = answer.text + footer(answer, lambda citation: "")
    assert history_of([user(question), said(shown), user("那餐费？")])[0].answer == answer.text


@pytest.mark.parametrize(
    "text", ["见下：\n\n> 引文", "**关于此回答**\n\n它不完整。", "a\n\n**About this answer**\n\n1. [a](b)"]
)
def test_a_quotation_at_the_end_of_an_answer_is_its_own(text: str) -> None:
    assert history_of([user("一？"), said(text), user("二？")])[0].answer == text


def test_a_long_text_that_begins_like_a_list_of_sources_is_read_at_once_and_kept() -> None:
    text = "答\n\n**Sources**\n\n" + "1. [a](b)" * 10_000 + "x"
    assert history_of([user("一？"), said(text), user("二？")])[0].answer == text


def test_only_a_list_of_our_own_form_is_taken_off() -> None:
    text = "见下。\n\n**来源**\n\n1. [制度](http://x/1)\n\n但以第二章为准。"
    assert history_of([user("一？"), said(text), user("二？")])[0].answer == text


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([], "messages"),
        ([user("年" * (MAX_QUESTION + 1))], "messages.0.content"),
        ([said("hello")], "messages"),
        ([user("  \n")], "messages.0.content"),
        ([InMessage(role="user", content=None)], "messages.0.content"),
        (
            [InMessage(role="user", content=(ContentPart(type="text", text="看图"), ContentPart(type="image_url")))],
            "messages.0.content.1.type",
        ),
    ],
)
def test_what_can_not_be_a_question_is_refused_by_the_field_that_is_wrong(
    messages: list[InMessage], field: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        question_of(messages)
    assert refused.value.field == field


TRANSCRIPT = "<chat_history>\nUSER: 差旅住宿\n费标准是多少？\nASSISTANT: 300 元。[1]\nUSER: 谢谢\n</chat_history>"


def prompt(instructions: str) -> list[InMessage]:
    """The shape of an automatic request."""
    return [InMessage(role="user", content=f"### Task:\n{instructions}\n### Chat History:\n{TRANSCRIPT}")]


@pytest.mark.parametrize(
    ("instructions", "task", "answer"),
    [
        ('Write a title. JSON: { "title": "…" }', "title", '{"title":"差旅住宿 费标准是多少？"}'),
        ('Name tags. JSON: { "tags": ["a"] }', "tags", '{"tags":[]}'),
        ('Suggest. JSON: { "follow_ups": ["?"] }', "follow_ups", '{"follow_ups":[]}'),
        ('Search queries. JSON: { "queries": [] }', "queries", '{"queries":[]}'),
        ('Complete. JSON: { "text": "…" }', "autocomplete", '{"text":""}'),
        ('A picture. JSON: { "prompt": "…" }', "image_prompt", '{"prompt":"差旅住宿 费标准是多少？"}'),
        ("Reply with one emoji.", "emoji", "💬"),
        ("Do something new.", "other", ""),
    ],
)
def test_an_automatic_request_is_answered_in_the_shape_it_asks_for(instructions: str, task: Task, answer: str) -> None:
    messages = prompt(instructions)
    assert task_of(messages, header=None) == task
    assert answer_task(task, messages) == answer


@pytest.mark.parametrize("filler", ["\n", "<chat_history>", "USER:"])
def test_a_title_of_an_odd_transcript_is_found_at_once(filler: str) -> None:
    text = f'### Task: JSON: {{ "title": 1 }}<chat_history>\nUSER: 年假{filler * 50_000}'
    messages = [InMessage(role="user", content=text), InMessage(role="user", content="</chat_history>")]
    assert task_of(messages[:1], header=None) is None
    assert answer_task("title", messages).startswith('{"title":"年假')


def test_a_title_is_cut_short() -> None:
    messages = [InMessage(role="user", content="请" * 100)]
    assert answer_task("title", messages) == '{"title":"' + "请" * 40 + '…"}'


@pytest.mark.parametrize(
    ("header", "task"),
    [
        ("title_generation", "title"),
        ("tags_generation", "tags"),
        ("follow_up_generation", "follow_ups"),
        ("moa", "other"),
    ],
)
def test_the_header_decides_when_there_is_one(header: str, task: Task) -> None:
    assert task_of([user("住宿费标准是多少？")], header=header) == task


@pytest.mark.parametrize(
    "content",
    [
        'What does the chapter `### Task:` say about "title": in <chat_history>?',
        "### Task:\nRespond to the user query using the provided context.\n<context>住宿费</context>\n住宿费标准？",
        "住宿费标准是多少？",
    ],
)
def test_a_person_who_asks_is_never_taken_for_a_client(content: str) -> None:
    assert task_of([InMessage(role="user", content=content)], header=None) is None


def test_a_conversation_is_no_automatic_request_whatever_its_last_message_looks_like() -> None:
    assert task_of([user("一"), said("二"), *prompt('{ "title": "…" }')], header=None) is None
