"""A tool without a model.

The reply holds the payload byte for byte as a model would read it; a long one is put together in a thread. An error of the tool is a problem with the status its code
stands for, so that a script can go by the status; the payload is inside it too.
"""

from typing import Any

import msgspec
from litestar import MediaType, Response, Router, get, post
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import Struct, structs

from api.callers import NEEDS_READ
from api.parts import Parts
from api.problem import Problem, problem
from api.retrieval.library import Pinned
from api.retrieval.profiles import check_preference
from api.routes.access import AnyRequest, access_of
from api.routes.problems import MEDIA_TYPE
from api.tools.registry import DESCRIPTORS, Descriptor, Toolbox, ToolResult
from shared.aside import aside
from shared.errors import NotFound
from shared.ids import BlockId, SnapshotId

_STATUS = {
    "invalid_argument": 400,
    "scope_not_found": 404,
    "too_large": 413,
    "collection_unavailable": 503,
    "upstream_unavailable": 502,
}
_NAMES = "list_documents, get_outline, search_blocks, list_blocks, scan_term"


class ToolReply(Struct, frozen=True, kw_only=True):
    tool: str
    snapshot_id: SnapshotId
    empty_reason: str | None
    retrieval_profile: str  # how search_blocks searches here
    embedding_tokens: int
    rerank_tokens: int
    seen: tuple[BlockId, ...]  # blocks whose text the payload shows, in its order
    payload: msgspec.Raw


class ToolProblem(Problem, frozen=True, kw_only=True, omit_defaults=True):
    payload: msgspec.Raw


class _Error(Struct, frozen=True, kw_only=True):
    message: str = ""
    field: str | None = None
    missing: tuple[str, ...] = ()


class _ErrorPayload(Struct, frozen=True, kw_only=True):
    error: _Error = _Error()


_error_payload = msgspec.json.Decoder(_ErrorPayload)


@get("/", sync_to_thread=False)
def list_tools() -> tuple[Descriptor, ...]:
    """What a model is told about the tools, in English and Chinese, with the JSON schema of their arguments."""
    return DESCRIPTORS


@post(
    "/{name:str}",
    status_code=200,
    responses={200: ResponseSpec(data_container=ToolReply, generate_examples=False, description="the payload")},
)
async def call_tool(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    name: FromPath[str],
    data: JSONBody[dict[str, Any]],
    snapshot_id: FromQuery[str | None] = None,
    prefer: FromQuery[str | None] = None,
) -> Response[bytes]:
    """Call a tool with its arguments as the body, on the active snapshot or the one named in the query string.

    `prefer`: newer or trusted documents stand further in front of what search_blocks finds. A model can't choose that.
    """
    if all(descriptor.name != name for descriptor in DESCRIPTORS):
        raise NotFound(f"There is no tool {name!r}; there are {_NAMES}.", field="name", ids=[name])
    wanted = None if snapshot_id is None else SnapshotId(snapshot_id)
    async with await parts.library.pin(wanted, access_of(request), prefer=check_preference(prefer)) as pinned:
        result = await Toolbox(pinned).call(name, data)
        if result.error_code is not None:
            found = _problem(result)
            return Response(msgspec.json.encode(found), status_code=found.status, media_type=MEDIA_TYPE)
        reply = await aside(len(result.payload), lambda: _replied(name, result, pinned))
        return Response(reply, media_type=MediaType.JSON)


tools = Router("/api/tools", route_handlers=[list_tools, call_tool], tags=["tools"], opt=NEEDS_READ)


def _replied(name: str, result: ToolResult, pinned: Pinned) -> bytes:
    reply = ToolReply(
        tool=name,
        snapshot_id=pinned.snapshot.snapshot_id,
        empty_reason=result.empty_reason,
        retrieval_profile=pinned.profile.name,
        embedding_tokens=result.embedding_tokens,
        rerank_tokens=result.rerank_tokens,
        seen=tuple(block.block_id for block in result.seen),
        payload=msgspec.Raw(result.payload),
    )
    return msgspec.json.encode(reply)


def _problem(result: ToolResult) -> ToolProblem:
    code = result.error_code or "tool_internal_error"
    error = _error_payload.decode(result.payload).error
    told = structs.replace(
        problem(code, error.message, status=_STATUS.get(code, 500)),
        field=error.field,
        ids=error.missing,
        retryable=result.retryable,
    )
    return ToolProblem(**structs.asdict(told), payload=msgspec.Raw(result.payload))
