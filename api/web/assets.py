"""Styles and scripts of the pages, read once. Open to everybody: they hold nothing of anybody."""

import hashlib
from pathlib import Path

from litestar import Response, get
from litestar.params import FromPath
from msgspec import Struct

from api.callers import NEEDS_NOTHING
from api.routes.access import AnyRequest
from shared.errors import NotFound

_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Asset(Struct, frozen=True, kw_only=True):
    content: bytes
    media_type: str
    etag: str


def _read(folder: Path) -> dict[str, Asset]:
    found: dict[str, Asset] = {}
    for path in folder.iterdir():
        content = path.read_bytes()
        etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        found[path.name] = Asset(content=content, media_type=_KINDS[path.suffix], etag=etag)
    return found


ASSETS = _read(Path(__file__).with_name("static"))


@get("/assets/{name:str}", opt=NEEDS_NOTHING, include_in_schema=False, sync_to_thread=False)
def asset(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
    """Asked for again each time, sent when it changed. Raises: NotFound."""
    found = ASSETS.get(name)
    if found is None:
        raise NotFound("There is no such file.", field="name")
    headers = {"ETag": found.etag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == found.etag:
        return Response(b"", status_code=304, headers=headers, media_type=found.media_type)
    return Response(found.content, headers=headers, media_type=found.media_type)
