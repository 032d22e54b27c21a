"""Ask, and look at what was asked."""

from typing import Annotated, Any

from litestar import Response, Router, get, post
from litestar.di import NamedDependency, Provide
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import Meta, Struct

from api.callers import NEEDS_READ
from api.desk import MAX_QUESTION
from api.live import Live
from api.parts import Parts
from api.routes.accepting import FORMS, preferred
from api.routes.access import AnyRequest, access_of, caller_of
from api.routes.again import audit_run, rerun_run
from api.routes.feedback import give_feedback, own_feedback
from api.routes.replay import replay_run
from api.routes.run_filters import run_filter
from api.routes.streams import run_events
from api.running import record_unless_gone
from api.wishes import Wishes, ask_for
from shared.ids import RunId
from shared.types.runfiles import RunFile
from shared.types.runs import Answer, LedgerEntry, RunRecord
from shared.types.traces import RunFilter, RunSummary, Trace


class AskBody(Wishes, frozen=True, kw_only=True, forbid_unknown_fields=True):
    question: Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION, pattern=r"\S")]
    conversation_id: str | None = None  # "new" = begin one; None = a question by itself


class Evidence(Struct, frozen=True, kw_only=True):
    """Every block that entered the model's context in this run, in order."""

    run_id: RunId
    ledger: tuple[LedgerEntry, ...]


class Cancelling(Struct, frozen=True, kw_only=True):
    run_id: RunId
    state: str = "cancelling"


@post("/", status_code=200, responses={200: ResponseSpec(data_container=Answer, description="the answer, or events")})
async def ask(request: AnyRequest, parts: NamedDependency[Parts], data: JSONBody[AskBody]) -> Response[Any]:
    """Answer a question. With `Accept: text/event-stream` the run's events as they happen, else the answer.

    Closing the connection cancels the run, in both forms.
    """  # Response[Any]: with a union the framework would send a stream under the other's media type
    run = await parts.desk.begin(
        ask_for(
            data.question,
            data,
            ceiling=caller_of(request).limits,
            settings=parts.settings,
            conversation_id=data.conversation_id,
        ),
        access_of(request),
    )
    if preferred(request.headers.get("accept", ""), FORMS) == "text/event-stream":
        return Live(lambda tell: run_events(run, tell, heartbeat_s=parts.heartbeat_s))
    return Response((await record_unless_gone(run, request.receive)).answer)


@get("/", sync_to_thread=True, dependencies={"wanted": Provide(run_filter, sync_to_thread=False)})
def list_runs(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    wanted: NamedDependency[RunFilter],
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 50,
) -> list[RunSummary]:
    """The newest first. `before`: the id of the last run of a list, for those that follow it."""
    return parts.telemetry.list_runs(access_of(request), limit=limit, wanted=wanted)


@get("/{run_id:str}", sync_to_thread=True)
def get_run(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Answer:
    return _record(parts, run_id, request).answer


@get("/{run_id:str}/evidence", sync_to_thread=True)
def get_evidence(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Evidence:
    record = _record(parts, run_id, request)
    return Evidence(run_id=record.answer.run_id, ledger=record.ledger)


@get("/{run_id:str}/trace", sync_to_thread=True)
def get_trace(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Trace:
    """The run's spans as a tree. `partial` says that something of it is missing."""
    return parts.telemetry.run_trace(RunId(run_id), access_of(request))


@get("/{run_id:str}/export", sync_to_thread=True)
def export_run(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Response[RunFile]:
    """The run as one file, without secrets: `citebound trace --open FILE` shows it again, without a server."""
    found = parts.telemetry.run_file(RunId(run_id), access_of(request))
    name = f'attachment; filename="{found.record.answer.run_id}.json"'
    return Response(found, headers={"content-disposition": name})


@post("/{run_id:str}/cancel", status_code=202)
async def cancel_run(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> Cancelling:
    """Stop a run that is under way; whoever waits for it gets it as cancelled."""
    parts.desk.cancel(RunId(run_id), access_of(request))
    return Cancelling(run_id=RunId(run_id))


runs = Router(
    "/api/runs",
    route_handlers=[
        ask,
        list_runs,
        get_run,
        get_evidence,
        get_trace,
        export_run,
        cancel_run,
        replay_run,
        audit_run,
        rerun_run,
        give_feedback,
        own_feedback,
    ],
    tags=["runs"],
    opt=NEEDS_READ,
)


def _record(parts: Parts, run_id: str, request: AnyRequest) -> RunRecord:
    return parts.telemetry.run_record(RunId(run_id), access_of(request))
