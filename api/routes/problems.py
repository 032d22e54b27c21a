"""Any error -> RFC 9457 problem details."""

import logging
import traceback
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.exceptions import (
    HTTPException,
    MethodNotAllowedException,
    NotFoundException,
    SerializationException,
    ValidationException,
)
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from msgspec import Struct

from api.problem import FieldProblem, Problem, internal, problem, problem_of
from api.routes.access import AnyRequest
from api.running import AskerGone, RunCrashed
from shared.errors import CiteboundError

_log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
CLIENT_GONE = 499  # nobody reads it; nginx's number for logs


class _Extra(Struct):
    """What the framework says of one input."""

    key: str = ""
    message: str = ""


def to_problem(request: AnyRequest, error: Exception) -> Problem:
    """What to tell about any error. An unexpected one goes to the log, with an id, and nothing of it is told."""
    match error:
        case CiteboundError():
            return problem_of(error)
        case RunCrashed():
            return internal(error.error_id, run_id=error.run_id)
        case RecursionError() if _is_of_decoding(error):
            return problem("malformed_json", "The body is nested too deeply.", status=400)
        case AskerGone() | HTTPException(detail="client disconnected prematurely"):
            return problem("client_gone", "The client closed the connection.", status=CLIENT_GONE)
        case ValidationException():
            return _invalid(error)
        case RequestEntityTooLarge():
            return problem("too_large", "The body is larger than this address takes.", status=413)
        case NotFoundException():
            return problem("not_found", f"There is nothing at {request.scope['path']}.", status=404)
        case MethodNotAllowedException():
            return problem(
                "method_not_allowed",
                f"{request.scope['path']} does not take {request.method}.",
                status=error.status_code,
            )
        case HTTPException(status_code=status) if status < 500:
            malformed = isinstance(error.__cause__, SerializationException)
            return problem("malformed_json" if malformed else "invalid_argument", error.detail, status=status)
        case _:
            error_id = uuid4().hex[:12]
            _log.error("%s %s, error_id %s", request.method, request.scope["path"], error_id, exc_info=error)
            return internal(error_id)


def _is_of_decoding(error: RecursionError) -> bool:
    """Whether the body was too deep for its decoder; any other endless recursion is a bug."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].name == "decode_json"


def respond(request: AnyRequest, error: Exception) -> Response[Problem]:
    found = to_problem(request, error)
    return Response(found, status_code=found.status, media_type=MEDIA_TYPE, headers=headers_of(found, error))


def headers_of(found: Problem, error: Exception) -> dict[str, str]:
    """Retry-After, WWW-Authenticate and what the framework wants to say (Allow)."""
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    if found.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, round(found.retry_after_s)))
    if found.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return headers


def _invalid(error: ValidationException) -> Problem:
    given = msgspec.convert(error.extra or [], list[_Extra])
    errors = tuple(_field_problem(one.key, one.message) for one in given)
    told = "; ".join(f"{one.field}: {one.problem}" for one in errors)
    return problem("invalid_argument", told or error.detail, status=400, errors=errors)


def _field_problem(key: str, message: str) -> FieldProblem:
    """The framework calls the whole body `data` and names a missing or unknown field only in its text."""
    if key == "data" and (parts := message.split("`"))[0] in (
        "Object missing required field ",
        "Object contains unknown field ",
    ):
        missing = parts[0].startswith("Object missing")
        return FieldProblem(field=parts[1], problem="is required" if missing else "is not known here; remove it")
    if key == "data" and message == "'data'":
        return FieldProblem(field="body", problem="is required: a JSON object")
    return FieldProblem(field="body" if key == "data" else key, problem=message)
