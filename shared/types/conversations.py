"""Conversations: questions that may lean on one another."""

from msgspec import Struct

from shared.ids import ConversationId, RunId
from shared.types.runs import Status


class ConversationTurn(Struct, frozen=True, kw_only=True):
    """One question that came to an end, and what was answered."""

    ordinal: int  # 1..
    run_id: RunId
    question: str
    answer: str
    status: Status
    at_ms: int


class ConversationInfo(Struct, frozen=True, kw_only=True):
    """`title`: the first question, cut; "" before it. `entities`: things named so far, the latest last."""

    conversation_id: ConversationId
    title: str
    entities: tuple[str, ...]
    turns: int
    created_at_ms: int
    updated_at_ms: int


class Conversation(Struct, frozen=True, kw_only=True):
    """`turns`: those whose documents the caller may still see, oldest first."""

    info: ConversationInfo
    turns: tuple[ConversationTurn, ...]
