"""What the edge found out about the caller."""

from typing import Any, TypeAlias, cast

from litestar import Request

from shared.access import Access

AnyRequest: TypeAlias = Request[Any, Any, Any]


def access_of(request: AnyRequest) -> Access:
    return cast(Access, request.scope["state"]["access"])
