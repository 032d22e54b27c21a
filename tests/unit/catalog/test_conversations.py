"""Conversations in the catalog: one's own, in order, with what one may still see; gone when removed or too old."""

import pytest
from msgspec import structs

from shared.access import OWNER, Access
from shared.catalog.conversations import (
    add_turn,
    create_conversation,
    delete_conversation,
    forget_conversations,
    get_conversation,
    list_conversations,
)
from shared.catalog.db import Database
from shared.errors import NotFound
from shared.ids import ConversationId, KeyId, RunId
from shared.types.conversations import ConversationTurn

HR = Access(labels=frozenset({"人事", "财务"}), key_id=KeyId("key_1"))
OTHER = Access(labels=frozenset({"人事"}), key_id=KeyId("key_2"))
CONVERSATION = ConversationId("conv_1")
TURN = ConversationTurn(
    ordinal=0, run_id=RunId("run_1"), question="年假有几天？", answer="五天。[1]", status="complete", at_ms=1_000
)


def say(db: Database, question: str, *, at_ms: int = 1_000, access: Access = HR, begins: bool = False) -> None:
    turn = structs.replace(TURN, question=question, run_id=RunId(f"run_{at_ms}"), at_ms=at_ms)
    add_turn(db, CONVERSATION, turn, access, entities=(question[:2],), may_begin=begins)


def test_turns_stand_in_order_and_the_first_question_is_the_title(db: Database) -> None:
    say(db, "年假有几天？\n谢谢", begins=True)
    say(db, "病假呢？", at_ms=2_000)
    found = get_conversation(db, CONVERSATION, HR, limit=10)
    assert [(turn.ordinal, turn.question) for turn in found.turns] == [(1, "年假有几天？\n谢谢"), (2, "病假呢？")]
    assert (found.info.title, found.info.entities, found.info.turns) == ("年假有几天？ 谢谢", ("病假",), 2)
    assert [turn.ordinal for turn in get_conversation(db, CONVERSATION, HR, limit=1).turns] == [2]


@pytest.mark.parametrize("stranger", [OTHER, OWNER], ids=["another key", "the owner"])
def test_it_is_not_there_for_anybody_else(db: Database, stranger: Access) -> None:
    say(db, "年假有几天？", begins=True)
    assert list_conversations(db, stranger, limit=10) == []
    for attempt in (
        lambda: get_conversation(db, CONVERSATION, stranger, limit=10),
        lambda: delete_conversation(db, CONVERSATION, stranger),
        lambda: say(db, "?", access=stranger),
        lambda: say(db, "?", access=stranger, begins=True),
        lambda: create_conversation(db, CONVERSATION, stranger, now_ms=5),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert get_conversation(db, CONVERSATION, HR, limit=10).info.turns == 1


def test_a_turn_is_not_shown_to_who_lost_a_label_that_its_run_could_see(db: Database) -> None:
    say(db, "工资多少？", begins=True)
    demoted = structs.replace(HR, labels=frozenset({"人事"}))
    say(db, "年假有几天？", at_ms=2_000, access=demoted)
    assert [turn.question for turn in get_conversation(db, CONVERSATION, demoted, limit=10).turns] == ["年假有几天？"]
    assert len(get_conversation(db, CONVERSATION, HR, limit=10).turns) == 2


def test_removing_it_takes_its_texts_and_names_its_runs(db: Database) -> None:
    say(db, "年假有几天？", begins=True)
    say(db, "病假呢？", at_ms=2_000)
    assert delete_conversation(db, CONVERSATION, HR) == ("run_1000", "run_2000")
    assert db.conn.execute("select count(*) from conversation_turns").fetchone() == (0,)
    with pytest.raises(NotFound):
        say(db, "还在吗？")


def test_those_in_which_nothing_was_asked_for_long_go(db: Database) -> None:
    for number in range(5):
        create_conversation(db, ConversationId(f"conv_{number}"), OWNER, now_ms=number * 1_000)
    assert forget_conversations(db, before_ms=3_000, limit=2) == 2
    assert forget_conversations(db, before_ms=3_000, limit=2) == 1
    assert forget_conversations(db, before_ms=3_000, limit=2) == 0
    assert [one.conversation_id for one in list_conversations(db, OWNER, limit=10)] == ["conv_4", "conv_3"]
