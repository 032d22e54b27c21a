"""One question, one run, one answer: the agent's only door.

The loop decides (loop.py), the driver acts (drive.py), finish.py verifies; this module gives them their parts and tells
the caller and the trace what happens.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from shared.clock import NowMs, now_ms
from shared.ids import RunId
from shared.llm.port import Chat
from shared.prompts import Bundle
from shared.types.events import RunEvent
from shared.types.runs import Limits, RunRecord, Scope

if TYPE_CHECKING:
    from api.retrieval.library import Pinned


class Exchange(Struct, frozen=True, kw_only=True):
    """An earlier question of the same conversation and what was answered."""

    question: str
    answer: str


class RunRequest(Struct, frozen=True, kw_only=True):
    run_id: RunId
    question: str
    limits: Limits = Limits()
    scope: Scope | None = None
    history: tuple[Exchange, ...] = ()  # oldest first
    protocol: Literal["react"] = "react"


async def run_agent(
    request: RunRequest,
    *,
    pinned: "Pinned",
    chat: Chat | None,
    bundle: Bundle,
    emit: Callable[[RunEvent], None],
    now_ms: NowMs = now_ms,
) -> RunRecord:
    """Answer one question on one pinned snapshot; `chat` None = the built-in extractive answerer.

    `emit` gets every event in order and must not block. A run that fails is an Answer with status "failed" and a
    RunFailed event, never an exception.
    Raises: ScopeNotFound, before anything is emitted. CancelledError passes, with the spans ended.
    """
    raise NotImplementedError
