"""Read and decode a body where the framework's own way does not fit: the type depends on the content, or the limit on the settings."""

import re
from collections.abc import AsyncGenerator
from typing import TypeVar

import msgspec
from litestar.exceptions import ClientException, SerializationException

from api.routes.access import AnyRequest
from api.running import AskerGone
from shared.errors import InvalidArgument, TooLarge

T = TypeVar("T")
_PATH = re.compile(r" - at `\$\.?(.*)`$")
_FIELD = re.compile(r"(required|unknown) field `([^`]+)`")


async def pieces(request: AnyRequest, max_bytes: int) -> AsyncGenerator[bytes]:
    """The body as it comes in. Raises: TooLarge as soon as that is known, AskerGone."""
    told = request.headers.get("content-length", "")
    if told.isascii() and told.isdigit() and int(told[:20]) > max_bytes:
        raise too_large(max_bytes)
    size = 0
    while True:
        message = await request.receive()
        if message["type"] != "http.request":
            raise AskerGone
        body = message["body"]
        size += len(body)
        if size > max_bytes:
            raise too_large(max_bytes)
        if body:
            yield body
        if not message["more_body"]:
            return


async def read_limited(request: AnyRequest, max_bytes: int) -> bytes:
    return b"".join([piece async for piece in pieces(request, max_bytes)])


def decode(data: bytes, decoder: msgspec.json.Decoder[T], *, within: str = "") -> T:
    """`within`: what the data is a part of, for the field's path. Raises: InvalidArgument, ClientException for what is no JSON."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        message = str(error)
        path = found.group(1) if (found := _PATH.search(message)) else ""
        named = found.group(2) if (found := _FIELD.search(message)) else ""
        field = ".".join(part for part in (within, path, named) if part) or "body"
        raise InvalidArgument(f"{field}: {_PATH.sub('', message)}.", field=field) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise ClientException(detail=str(error)) from SerializationException(str(error))


def too_large(max_bytes: int) -> TooLarge:
    return TooLarge(
        f"The body is larger than {max_bytes} bytes. Send less at once, or raise the limit in the settings."
    )
