"""A problem in OpenAI's error shape."""

from litestar import Response

from api.openai_compat.shapes import ErrorBody, ErrorDetail
from api.problem import Problem

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def error_body(found: Problem) -> ErrorBody:
    kind = _TYPES.get(found.status, "server_error" if found.status >= 500 else "invalid_request_error")
    message = found.detail if found.remedy is None else f"{found.detail} {found.remedy}"
    return ErrorBody(error=ErrorDetail(message=message, type=kind, param=found.field, code=found.code))


def respond(found: Problem, headers: dict[str, str]) -> Response[ErrorBody]:
    """The official clients repeat a request that failed with 5xx; a whole run is not to be repeated behind the asker's back."""
    return Response(error_body(found), status_code=found.status, headers={"x-should-retry": "false", **headers})
