"""The wire shapes of chat completions, as the official clients read them. Source: openai-openapi of 2026-08-21, openai-python 3.57."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from api.wishes import Wishes
from shared.ids import BlockId, RunId, SnapshotId
from shared.types.runs import ClaimCheck, Limitation, SnapshotGap, Status, Verdict

MODEL = "citebound"
MODEL_CREATED = 1_764_460_800


class ContentPart(Struct, frozen=True, kw_only=True):
    type: str
    text: str = ""


class InMessage(Struct, frozen=True, kw_only=True):
    role: str
    content: str | tuple[ContentPart, ...] | None = None


class StreamOptions(Struct, frozen=True, kw_only=True):
    include_usage: bool | None = None


class ChatBody(Wishes, frozen=True, kw_only=True):
    """What we look at, our own fields as in /api/runs; what else clients send (temperature, tools, user …) is let through and ignored."""

    model: str
    messages: tuple[InMessage, ...]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    conversation_id: str | None = None  # refused: the messages are the conversation


class UrlCitation(Struct, frozen=True, kw_only=True):
    """`start_index`, `end_index`: of the mark [n] in the message's content, in code points, the end exclusive."""

    url: str
    title: str
    start_index: int
    end_index: int


class Annotation(Struct, frozen=True, kw_only=True):
    url_citation: UrlCitation  # nested, and the only kind sent: the Vercel AI SDK reads it without looking
    type: Literal["url_citation"] = "url_citation"


class CompletionDetails(Struct, frozen=True, kw_only=True):
    reasoning_tokens: int


class ChatUsage(Struct, frozen=True, kw_only=True):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    completion_tokens_details: CompletionDetails


class Cited(Struct, frozen=True, kw_only=True):
    """A citation of ours, beside the standard fields."""

    marker: int
    block_id: BlockId
    title: str
    source_label: str
    section_path: str
    page_first: int | None
    page_last: int | None
    quote: str
    verdict: Verdict
    problem: str | None  # what the block doesn't support
    url: str


class Extra(Struct, frozen=True, kw_only=True, tag_field="kind", tag="run"):
    """What OpenAI's shape has no place for, under the key `citebound`."""

    run_id: RunId
    status: Status
    termination_reason: str
    snapshot_id: SnapshotId | None
    snapshot: SnapshotGap | None  # what it lacks
    citations: tuple[Cited, ...]
    claims: tuple[ClaimCheck, ...]
    limitations: tuple[Limitation, ...]
    embedding_tokens: int
    rerank_tokens: int
    estimated: bool  # some of the usage is our own count: a provider didn't say it, or said what can't be


class TaskExtra(Struct, frozen=True, kw_only=True, tag_field="kind", tag="task"):
    """Says that a rule answered a client's automatic request."""

    task: str


FinishReason = Literal["stop", "length"]


def finish_reason(told: Extra | TaskExtra) -> FinishReason:
    """As OpenAI has it: whether the text ends where the model ended it, or where it was cut off."""
    return "length" if isinstance(told, Extra) and any(one.code == "answer_cut" for one in told.limitations) else "stop"


class OutMessage(Struct, frozen=True, kw_only=True):
    content: str
    annotations: tuple[Annotation, ...] = ()
    refusal: None = None
    role: Literal["assistant"] = "assistant"


class Choice(Struct, frozen=True, kw_only=True):
    message: OutMessage
    finish_reason: FinishReason
    index: int = 0
    logprobs: None = None


class Completion(Struct, frozen=True, kw_only=True):
    id: str
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: ChatUsage
    citebound: Extra | TaskExtra
    object: Literal["chat.completion"] = "chat.completion"


class Delta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    role: Literal["assistant"] | None = None
    content: str | None = None
    reasoning_content: str | None = None
    annotations: tuple[Annotation, ...] = ()


class ChunkChoice(Struct, frozen=True, kw_only=True):
    delta: Delta
    index: int = 0
    finish_reason: FinishReason | None = None
    logprobs: None = None


class Chunk(Struct, frozen=True, kw_only=True):
    """Always with one choice, but for the usage chunk: clients read choices[0] without looking."""

    id: str
    created: int
    model: str
    choices: tuple[ChunkChoice, ...]
    usage: ChatUsage | None = None
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"


class LastChunk(Chunk, frozen=True, kw_only=True):
    citebound: Extra | TaskExtra


class Model(Struct, frozen=True, kw_only=True):
    id: str
    created: int = MODEL_CREATED
    owned_by: str = "citebound"
    object: Literal["model"] = "model"


class Models(Struct, frozen=True, kw_only=True):
    data: tuple[Model, ...]
    object: Literal["list"] = "list"


class ErrorDetail(Struct, frozen=True, kw_only=True):
    message: str
    type: str
    param: str | None
    code: str
    run_id: RunId | UnsetType = UNSET  # ours: of a run that failed


class ErrorBody(Struct, frozen=True, kw_only=True):
    error: ErrorDetail
