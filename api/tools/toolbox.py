"""One logical tool call: decode, run; every fault becomes a payload, an upstream one after one more try."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace
from opentelemetry.trace import Span, Status, StatusCode

from api.retrieval.library import Pinned
from api.retrieval.tally import Tally
from api.tools import get_outline, list_blocks, list_documents, scan_term, search_blocks
from api.tools.arguments import canonical, decode
from api.tools.contract import A, Call, ErrorCode, Reply, Tool, ToolError, ToolResult
from api.tools.payload import encoded, too_large
from shared.aside import aside
from shared.errors import (
    CiteboundError,
    CollectionUnavailable,
    InvalidArgument,
    ScopeNotFound,
    StorageError,
    TooLarge,
    UpstreamError,
)
from shared.ids import DocId
from shared.telemetry import names
from shared.telemetry.artifacts import attach
from shared.telemetry.tracing import tracer

RETRY_PAUSE_S = 0.2  # when the provider names none
LONGEST_PAUSE_S = 10.0  # a provider that asks for more is not asked again: the run has its own end

_TOOLS = (list_documents.TOOL, get_outline.TOOL, search_blocks.TOOL, list_blocks.TOOL, scan_term.TOOL)
DESCRIPTORS = tuple(tool.descriptor for tool in _TOOLS)

_log = logging.getLogger(__name__)


class _ErrorPayload(Struct, frozen=True, kw_only=True):
    error: ToolError


class _Attempt(Struct, frozen=True, kw_only=True):
    result: ToolResult
    again_after_s: float | None = None  # None = another try can't help


class Toolbox:
    """The tools of one run: on its pinned snapshot, inside its scope."""

    def __init__(
        self,
        pinned: Pinned,
        *,
        scope: frozenset[DocId] | None = None,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """`scope`: as resolved by `pinned.resolve_scope`. `pause`: seconds between the two attempts."""
        self._pinned = pinned
        self._scope = scope
        self._pause = pause

    async def call(self, name: str, arguments: object) -> ToolResult:
        """Run a tool on decoded JSON; business and execution errors are results.

        A retryable upstream fault is tried once more, both attempts as spans.
        """
        first = await self._attempt(name, arguments, number=1)
        if first.again_after_s is None:
            return first.result
        await self._pause(first.again_after_s)
        second = (await self._attempt(name, arguments, number=2)).result
        return replace(
            second,
            embedding_tokens=first.result.embedding_tokens + second.embedding_tokens,
            rerank_tokens=first.result.rerank_tokens + second.rerank_tokens,
        )

    async def _attempt(self, name: str, arguments: object, *, number: int) -> _Attempt:
        with tracer.start_as_current_span(f"{names.TOOL} {name}") as span:
            span.set_attributes(
                {
                    names.OPERATION: "execute_tool",
                    names.TOOL_NAME: name,
                    names.TOOL_TYPE: "datastore",
                    names.SNAPSHOT_ID: self._pinned.snapshot.snapshot_id,
                    names.ATTEMPT: number,
                }
            )
            tally = Tally()
            call = Call(pinned=self._pinned, scope=self._scope, tally=tally, most_bytes=self._pinned.most_result_bytes)
            try:
                reply = await self._dispatch(name, arguments, call, span)
                attempt = _Attempt(result=_succeeded(reply, most_bytes=call.most_bytes))
            except CiteboundError as error:
                attempt = _Attempt(result=_failed(error), again_after_s=_again_after_s(error))
                _record(span, error)
                if number == 1 and attempt.again_after_s is not None:
                    span.add_event(names.RETRY, {"code": error.code, "after_s": attempt.again_after_s})
            except Exception as error:  # noqa: BLE001 - a border: a bug in a tool ends the call, not the run
                attempt = _Attempt(result=_crashed(error))
                span.record_exception(error)
                _record(span, error)
            bought = replace(attempt.result, embedding_tokens=tally.embedding_tokens, rerank_tokens=tally.rerank_tokens)
            attempt = replace(attempt, result=bought)
            _describe(span, attempt.result)
            # a scan's payload may be of many MB: redacting and hashing it would hold up every other run
            payload = attempt.result.payload
            await aside(len(payload), lambda: attach(span, "payload", payload))
            return attempt

    async def _dispatch(self, name: str, arguments: object, call: Call, span: Span) -> Reply:
        # one branch a tool: each has its own type of arguments
        match name:
            case "list_documents":
                return await self._run(list_documents.TOOL, arguments, call, span)
            case "get_outline":
                return await self._run(get_outline.TOOL, arguments, call, span)
            case "search_blocks":
                return await self._run(search_blocks.TOOL, arguments, call, span)
            case "list_blocks":
                return await self._run(list_blocks.TOOL, arguments, call, span)
            case "scan_term":
                return await self._run(scan_term.TOOL, arguments, call, span)
            case _:
                known = ", ".join(descriptor.name for descriptor in DESCRIPTORS)
                raise InvalidArgument(f"There is no tool {name}. There are: {known}.", field="tool")

    async def _run(self, tool: Tool[A], arguments: object, call: Call, span: Span) -> Reply:
        span.set_attribute(names.TOOL_ARGUMENTS, canonical(arguments))
        return await tool.run(decode(arguments, tool.arguments, schema=tool.descriptor.schema), call)


def _succeeded(reply: Reply, *, most_bytes: int) -> ToolResult:
    if (size := len(reply.payload)) > most_bytes:
        raise too_large(f"it has {size:,} bytes", most_bytes, remedy="Ask for less.")
    return ToolResult(
        payload=reply.payload,
        seen=reply.seen,
        empty_reason=reply.empty_reason,
    )


def _failed(error: CiteboundError) -> ToolResult:
    match error:
        case InvalidArgument():
            return _refused("invalid_argument", error.message, field=error.field)
        case ScopeNotFound():
            return _refused("scope_not_found", error.message, field=error.field, missing=error.ids)
        case TooLarge():
            return _refused("too_large", error.message, field=error.field)
        case CollectionUnavailable():
            return _refused("collection_unavailable", error.message)
        case UpstreamError() | StorageError():
            return _refused("upstream_unavailable", error.message, retryable=error.retryable)
        case _:
            return _crashed(error)


def _crashed(error: Exception) -> ToolResult:
    error_id = uuid4().hex[:12]
    _log.error("a tool crashed, error_id %s", error_id, exc_info=error)
    return _refused(
        "tool_internal_error",
        f"The tool failed for a reason of its own, error_id {error_id}. Try another tool, or answer without it.",
    )


def _refused(
    code: ErrorCode,
    message: str,
    *,
    field: str | None = None,
    missing: tuple[str, ...] = (),
    retryable: bool | None = None,
) -> ToolResult:
    error = ToolError(code=code, message=message, field=field, missing=missing, retryable=retryable)
    return ToolResult(
        payload=encoded(_ErrorPayload(error=error)),
        error_code=code,
        retryable=bool(retryable),
    )


def _again_after_s(error: CiteboundError) -> float | None:
    if not isinstance(error, UpstreamError | StorageError) or not error.retryable:
        return None
    asked = error.retry_after_s if isinstance(error, UpstreamError) else None
    pause_s = RETRY_PAUSE_S if asked is None else asked
    return pause_s if pause_s <= LONGEST_PAUSE_S else None


def _record(span: Span, error: Exception) -> None:
    """A wrong argument is an answer like any other; a tool that could not run is an error of the span."""
    span.set_attribute(names.ERROR_TYPE, error.code if isinstance(error, CiteboundError) else type(error).__name__)
    if not isinstance(error, InvalidArgument | ScopeNotFound | TooLarge):
        span.set_status(Status(StatusCode.ERROR, str(error)))


def _describe(span: Span, result: ToolResult) -> None:
    span.set_attributes({names.RESULT_BLOCKS: len(result.seen), names.EMBEDDING_TOKENS: result.embedding_tokens})
    if result.rerank_tokens:
        span.set_attribute(names.RERANK_TOKENS, result.rerank_tokens)
    if result.empty_reason is not None:
        span.set_attribute(names.EMPTY_REASON, result.empty_reason)
