"""Conversations: a caller's own, and nobody else's."""

import asyncio
from typing import Annotated

from litestar import Router, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from msgspec import Struct

from api.callers import NEEDS_READ
from api.parts import Parts
from api.routes.access import AnyRequest, access_of
from shared.types.conversations import Conversation, ConversationInfo


class Deleted(Struct, frozen=True, kw_only=True):
    """`runs`: how many runs of it were forgotten with it."""

    conversation_id: str
    runs: int


@get("/")
async def list_conversations(
    request: AnyRequest, parts: NamedDependency[Parts], limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 50
) -> list[ConversationInfo]:
    """The caller's own, the one spoken in last first."""
    return await asyncio.to_thread(lambda: parts.conversations.every(access_of(request), limit=limit))


@post("/", status_code=201)
async def create_conversation(request: AnyRequest, parts: NamedDependency[Parts]) -> ConversationInfo:
    """An empty one. `POST /api/runs` with `conversation_id` "new" begins one with its first question."""
    return await asyncio.to_thread(parts.conversations.create, access_of(request))


@get("/{conversation_id:str}")
async def get_conversation(
    request: AnyRequest, parts: NamedDependency[Parts], conversation_id: FromPath[str]
) -> Conversation:
    """With its questions and answers, as far as the caller may still see what they were answered from."""
    return await asyncio.to_thread(parts.conversations.get, conversation_id, access_of(request))


@delete("/{conversation_id:str}", status_code=200)
async def delete_conversation(
    request: AnyRequest, parts: NamedDependency[Parts], conversation_id: FromPath[str]
) -> Deleted:
    """Remove it with its texts, and its runs with theirs, failed ones too. One under way goes when it ends."""
    turns = await asyncio.to_thread(parts.conversations.delete, conversation_id, access_of(request))
    runs = await asyncio.to_thread(parts.telemetry.forget_conversation, conversation_id, turns=turns)
    return Deleted(conversation_id=conversation_id, runs=runs)


conversations = Router(
    "/api/conversations",
    route_handlers=[list_conversations, create_conversation, get_conversation, delete_conversation],
    tags=["conversations"],
    opt=NEEDS_READ,
)
