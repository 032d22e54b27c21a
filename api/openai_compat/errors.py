"""A problem in OpenAI's error shape."""

from litestar import Response
from msgspec import UNSET

from api.openai_compat.shapes import ErrorBody, ErrorDetail
from api.problem import Problem
from shared.ids import RunId

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def error_body(found: Problem) -> ErrorBody:
    kind = _TYPES.get(found.status, "server_error" if found.status >= 500 else "invalid_request_error")
    run_id = UNSET if found.run_id is None else RunId(found.run_id)
    told = (found.detail, found.remedy, None if found.run_id is None else f"({found.run_id})")
    message = " ".join(filter(None, told))  # with the run: most clients show nothing else
    return ErrorBody(error=ErrorDetail(message=message, type=kind, param=found.field, code=found.code, run_id=run_id))


def respond(found: Problem, headers: dict[str, str]) -> Response[ErrorBody]:
    """The official clients repeat a request that failed with 5xx; a whole run is not to be repeated behind the asker's back."""
    return Response(error_body(found), status_code=found.status, headers={"x-should-retry": "false", **headers})
