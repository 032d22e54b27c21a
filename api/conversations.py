"""Conversations as the desk and the routes need them: what came before is recalled, what was answered is kept."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager

from api.agent.paths.follow_up import named_after
from api.agent.run import Exchange
from api.desk import Recalled
from shared.access import Access
from shared.catalog.conversations import (
    add_turn,
    create_conversation,
    delete_conversation,
    get_conversation,
    get_info,
    list_conversations,
)
from shared.catalog.db import Database
from shared.clock import NowMs
from shared.errors import NotFound, StorageError
from shared.ids import ConversationId, new_conversation_id
from shared.types.conversations import Conversation, ConversationInfo, ConversationTurn
from shared.types.runs import Answer

_log = logging.getLogger(__name__)

NEW = "new"  # asked for in the place of an id: begin one
RECALLED = (
    40  # turns that a question may lean on; the run keeps as many of their words as fit, and a line of the others
)
SHOWN = 1_000  # turns


class Conversations:
    """Blocking throughout. `open_catalog`: a connection for one call."""

    def __init__(self, open_catalog: Callable[[], AbstractContextManager[Database]], *, now_ms: NowMs) -> None:
        self._open = open_catalog
        self._now_ms = now_ms

    def recall(self, conversation_id: str, access: Access) -> Recalled:
        """Raises: NotFound for one that is not the caller's, StorageError."""
        if conversation_id == NEW:
            return Recalled(conversation_id=new_conversation_id(self._now_ms()), begins=True)
        with self._open() as db:
            found = get_conversation(db, ConversationId(conversation_id), access, limit=RECALLED)
        history = tuple(Exchange(question=one.question, answer=one.answer) for one in found.turns)
        return Recalled(conversation_id=found.info.conversation_id, history=history, entities=found.info.entities)

    def keep(self, recalled: Recalled, answer: Answer, access: Access) -> bool:
        """Put an answer at the end. One that failed is none; a conversation that was deleted meanwhile stays deleted.

        Whether the conversation is there afterwards.
        """
        if answer.status == "failed":
            return not recalled.begins and self._is_there(recalled.conversation_id, access)
        turn = ConversationTurn(
            ordinal=0,
            run_id=answer.run_id,
            question=answer.question,
            answer=answer.text,
            status=answer.status,
            at_ms=self._now_ms(),
        )
        entities = named_after(recalled.entities, question=answer.question, answer=answer.text)
        try:
            with self._open() as db:
                add_turn(db, recalled.conversation_id, turn, access, entities=entities, may_begin=recalled.begins)
        except NotFound:
            _log.info("conversation_id=%s was deleted while a question of it was answered", recalled.conversation_id)
            return False
        except StorageError as error:  # the answer stands; what is asked next can't lean on it
            _log.error("conversation_id=%s run_id=%s is not kept: %s", recalled.conversation_id, answer.run_id, error)
            return not recalled.begins
        return True

    def _is_there(self, conversation_id: ConversationId, access: Access) -> bool:
        try:
            with self._open() as db:
                get_info(db, conversation_id, access)
        except NotFound:
            return False
        except StorageError as error:  # nothing says that it is gone
            _log.error("conversation_id=%s can't be looked up: %s", conversation_id, error)
        return True

    def create(self, access: Access) -> ConversationInfo:
        """Raises: StorageError."""
        now_ms = self._now_ms()
        with self._open() as db:
            return create_conversation(db, new_conversation_id(now_ms), access, now_ms=now_ms)

    def every(self, access: Access, *, limit: int) -> list[ConversationInfo]:
        """Raises: StorageError."""
        with self._open() as db:
            return list_conversations(db, access, limit=limit)

    def get(self, conversation_id: str, access: Access) -> Conversation:
        """Raises: NotFound, StorageError."""
        with self._open() as db:
            return get_conversation(db, ConversationId(conversation_id), access, limit=SHOWN)

    def delete(self, conversation_id: str, access: Access) -> tuple[str, ...]:
        """Remove it with its texts; the ids of the runs that were its turns. Raises: NotFound, StorageError."""
        with self._open() as db:
            get_info(db, ConversationId(conversation_id), access)
            return delete_conversation(db, ConversationId(conversation_id), access)
