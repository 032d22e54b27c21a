"""What readers say of an answer, and the cases that come of it. For whoever may read the run: its asker, and admins."""

from typing import Annotated

from litestar import Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from api.callers import NEEDS_READ
from api.parts import Parts
from api.routes.access import AnyRequest, access_of
from shared.access import Access
from shared.errors import NotFound
from shared.ids import RunId
from shared.telemetry.cases import StoredCase, case_of, check_gold, item_of, run_of, unknown_case
from shared.types.cases import Case, CaseChange, CaseStatus, EvaluationItem, Feedback, NewFeedback, OwnFeedback
from shared.types.runs import RunRecord


@post("/{run_id:str}/feedback", status_code=200, sync_to_thread=True)
def give_feedback(
    request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str], data: JSONBody[NewFeedback]
) -> Feedback:
    """Thumb up or down, with a comment. Down makes a case of the run; the last word of each who speaks counts."""
    access = access_of(request)
    record = parts.telemetry.run_record(RunId(run_id), access)
    parts.telemetry.cases.say(RunId(run_id), data, by=access.key_id, now_ms=parts.now_ms())
    stored = parts.telemetry.cases.get(RunId(run_id))
    return Feedback(run_id=RunId(run_id), thumb=data.thumb, case=None if stored is None else case_of(stored, record))


@get("/{run_id:str}/feedback", sync_to_thread=True)
def own_feedback(request: AnyRequest, parts: NamedDependency[Parts], run_id: FromPath[str]) -> OwnFeedback:
    """What the caller said of it last."""
    access = access_of(request)
    parts.telemetry.run_record(RunId(run_id), access)
    return parts.telemetry.cases.own(RunId(run_id), by=access.key_id)


@get("/", sync_to_thread=True)
def list_cases(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    status: FromQuery[CaseStatus | None] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> list[Case]:
    """Of the caller's runs, or for an admin of all; the newest first."""
    return cases_of(parts, access_of(request), status=status, limit=limit)


@get("/{case_id:str}", sync_to_thread=True)
def get_case(request: AnyRequest, parts: NamedDependency[Parts], case_id: FromPath[str]) -> Case:
    return case_of(*find_case(parts, case_id, access_of(request)))


@post("/{case_id:str}", status_code=200, sync_to_thread=True)
def change_case(
    request: AnyRequest, parts: NamedDependency[Parts], case_id: FromPath[str], data: JSONBody[CaseChange]
) -> Case:
    """Say which layer failed, which citations hold the right answer, what was found out; close it or open it again."""
    stored, record = find_case(parts, case_id, access_of(request))
    check_gold(data, record)
    parts.telemetry.cases.change(stored.run_id, data, now_ms=parts.now_ms())
    return case_of(*find_case(parts, case_id, access_of(request)))


@get("/{case_id:str}/item", sync_to_thread=True)
def get_item(request: AnyRequest, parts: NamedDependency[Parts], case_id: FromPath[str]) -> EvaluationItem:
    """As a line of an evaluation set: the question, the marked citations as gold quotes, the snapshot."""
    stored, record = find_case(parts, case_id, access_of(request))
    return item_of(case_of(stored, record), record)


cases = Router(
    "/api/cases", route_handlers=[list_cases, get_case, change_case, get_item], tags=["cases"], opt=NEEDS_READ
)


def cases_of(parts: Parts, access: Access, *, status: CaseStatus | None, first: int = 0, limit: int) -> list[Case]:
    """As `list_cases` has them, from the one after the first `first` on. Blocking. Raises: StorageError."""
    found: list[Case] = []
    for stored in parts.telemetry.cases.newest(access, status=status):
        if len(found) == first + limit:
            break
        try:
            found.append(case_of(stored, parts.telemetry.run_record(stored.run_id, access)))
        except NotFound:  # another's, or forgotten
            continue
    return found[first:]


def find_case(parts: Parts, case_id: str, access: Access) -> tuple[StoredCase, RunRecord]:
    """Blocking. Raises: NotFound, the same whether it is not there or not the caller's."""
    run_id = run_of(case_id)
    try:
        record = parts.telemetry.run_record(run_id, access)
    except NotFound:
        raise unknown_case(case_id) from None
    stored = parts.telemetry.cases.get(run_id)
    if stored is None:
        raise unknown_case(case_id)
    return stored, record
