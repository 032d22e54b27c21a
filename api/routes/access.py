"""What the edge found out about the caller."""

from typing import Any, TypeAlias

from litestar import Request

from api.callers import Caller, caller_in
from shared.access import Access

AnyRequest: TypeAlias = Request[Any, Any, Any]


def caller_of(request: AnyRequest) -> Caller:
    return caller_in(request.scope["state"])


def access_of(request: AnyRequest) -> Access:
    return caller_of(request).access
