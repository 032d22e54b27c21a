"""A run's events as chat completion chunks."""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from api.agent.citations import unmarked
from api.agent.harmless import harmless
from api.live import Tell
from api.openai_compat.citations import BlockUrl, annotations, extra, footer
from api.openai_compat.errors import error_body
from api.openai_compat.shapes import (
    ChatUsage,
    Chunk,
    ChunkChoice,
    CompletionDetails,
    Delta,
    Extra,
    LastChunk,
    TaskExtra,
    finish_reason,
)
from api.problem import Problem
from api.running import Running
from shared.types.events import (
    AnswerDelta,
    CitationMade,
    RunCompleted,
    RunEvent,
    RunFailed,
    RunStarted,
    Thought,
    ToolCalled,
    ToolResulted,
    TurnStarted,
)
from shared.types.runs import Answer, Usage

KEEP_ALIVE = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"

_json = msgspec.json.Encoder()


class Envelope(Struct, frozen=True, kw_only=True):
    """What is the same in every chunk of one reply."""

    id: str
    created: int  # s
    model: str
    include_usage: bool


def usage_of(usage: Usage) -> ChatUsage:
    return ChatUsage(
        prompt_tokens=usage.chat_input_tokens,
        completion_tokens=usage.chat_output_tokens,
        total_tokens=usage.chat_input_tokens + usage.chat_output_tokens,
        completion_tokens_details=CompletionDetails(reasoning_tokens=usage.reasoning_tokens),
    )


async def run_chunks(
    run: Running,
    envelope: Envelope,
    url: BlockUrl,
    tell: Tell,
    *,
    keep_alive_s: float,
    failure: Callable[[RunFailed], Problem],
) -> bytes:
    """Steps as reasoning, then the answer, its sources, the last chunk with annotations. Whoever stops listening cancels the run."""
    try:
        pieces = [_chunk(envelope, Delta(role="assistant", content=""))]
        begun = False  # some of the answer was told
        while True:
            events = await run.news(idle_s=keep_alive_s)
            for event in events:
                match event:
                    case AnswerDelta(text=text):
                        begun = True
                        pieces.append(_chunk(envelope, Delta(content=text)))
                    case RunCompleted(answer=answer):
                        rest = footer(answer, url) if begun else answer.text + footer(answer, url)
                        pieces += _ending(envelope, answer, rest, url)
                    case RunFailed():
                        pieces += [_data(error_body(failure(event))), DONE]
                    case _:
                        if line := progress_line(event):
                            pieces.append(_chunk(envelope, Delta(reasoning_content=line + "\n")))
            if run.all_told:
                return b"".join(pieces)
            if pieces or not events:
                await tell(b"".join(pieces) or KEEP_ALIVE)
                pieces = []
    finally:
        run.cancel()


async def task_chunks(text: str, envelope: Envelope, told: TaskExtra) -> bytes:
    """An answer that was there at once."""
    pieces = [_chunk(envelope, Delta(role="assistant", content=text)), _data(_last(envelope, Delta(), told))]
    if envelope.include_usage:
        pieces.append(_data(_usage_chunk(envelope, Usage())))
    return b"".join([*pieces, DONE])


def progress_line(event: RunEvent) -> str:
    """One short line for a person who waits; nothing for what he sees anyway. Not verified: without marks of a source."""
    match event:
        case Thought(text=text):
            return harmless(unmarked(" ".join(text.split())))
        case ToolCalled(tool=tool, arguments=arguments):
            return harmless(unmarked(f"→ {tool} {arguments}"))
        case ToolResulted(summary=summary, admitted=admitted):
            return f"{'✓' if admitted else '✗'} {summary}"
        case RunStarted() | TurnStarted() | AnswerDelta() | CitationMade() | RunCompleted() | RunFailed():
            return ""


def _ending(envelope: Envelope, answer: Answer, rest: str, url: BlockUrl) -> list[bytes]:
    pieces = [_chunk(envelope, Delta(content=rest))] if rest else []
    # No content beside finish_reason: some clients read annotations only on such a chunk.
    pieces.append(_data(_last(envelope, Delta(annotations=annotations(answer, url)), extra(answer, url))))
    if envelope.include_usage:
        pieces.append(_data(_usage_chunk(envelope, answer.usage)))
    return [*pieces, DONE]


def _chunk(envelope: Envelope, delta: Delta) -> bytes:
    return _data(
        Chunk(id=envelope.id, created=envelope.created, model=envelope.model, choices=(ChunkChoice(delta=delta),))
    )


def _last(envelope: Envelope, delta: Delta, told: Extra | TaskExtra) -> LastChunk:
    return LastChunk(
        id=envelope.id,
        created=envelope.created,
        model=envelope.model,
        choices=(ChunkChoice(delta=delta, finish_reason=finish_reason(told)),),
        citebound=told,
    )


def _usage_chunk(envelope: Envelope, usage: Usage) -> Chunk:
    return Chunk(id=envelope.id, created=envelope.created, model=envelope.model, choices=(), usage=usage_of(usage))


def _data(piece: Struct) -> bytes:
    return b"data: " + _json.encode(piece) + b"\n\n"
