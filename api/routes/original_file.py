"""The file that a version of a document was made of, to be saved: never shown by a browser as a page of this address."""

import asyncio
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Annotated
from urllib.parse import quote

from litestar import get
from litestar.datastructures import ETag
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import File

from api.parts import Parts
from api.routes.access import AnyRequest, access_of
from shared.blobs import Blobs
from shared.errors import NotFound
from shared.ids import DocId, SnapshotId

_MEDIA_TYPE = "application/octet-stream"  # whatever it is, a browser has no reason to open it in place
_LONGEST = 180  # characters of a name
_NOT_IN_NAMES = set('<>:"/\\|?*%')


@get(
    "/{doc_id:str}/original",
    media_type=_MEDIA_TYPE,
    responses={
        200: ResponseSpec(data_container=bytes, media_type=_MEDIA_TYPE, description="the file as it was imported")
    },
)
async def get_original(
    request: AnyRequest,
    parts: NamedDependency[Parts],
    doc_id: FromPath[str],
    version: Annotated[int | None, QueryParameter(ge=1, le=2**31)] = None,
    snapshot_id: FromQuery[str | None] = None,
) -> File:
    """The file a document was made of: of the version in the active snapshot, of `snapshot_id`, or of any version that is kept.

    Always sent as an attachment. 404 when there is no such document or version, when the caller may not read it, and when the stored
    file is missing or damaged: the text says which.
    """
    wanted = None if snapshot_id is None else SnapshotId(snapshot_id)
    found = await parts.library.original(DocId(doc_id), access_of(request), version=version, snapshot_id=wanted)
    document = found.document
    path = await asyncio.to_thread(_intact, parts.originals, found.sha256, f"{doc_id}.v{document.version}")
    return File(
        path,
        media_type=_MEDIA_TYPE,
        etag=ETag(value=found.sha256),
        headers={
            "Content-Disposition": attachment(document.key, otherwise=doc_id),
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        },
    )


def attachment(key: str, *, otherwise: str) -> str:
    """A Content-Disposition with the last part of a document's name, in the two spellings of RFC 6266.

    What could lead a program elsewhere or hide the ending is taken out: control and invisible characters, parts of paths, quotes.
    """
    visible = "".join(one for one in unicodedata.normalize("NFC", key) if unicodedata.category(one)[0] != "C")
    name = PurePosixPath(visible.replace("\\", "/")).name
    name = "".join("_" if one in _NOT_IN_NAMES else one for one in name).strip(" .")
    ending = PurePosixPath(name).suffix[:20]
    stem = name.removesuffix(ending)[: _LONGEST - len(ending)] if len(name) > _LONGEST else name.removesuffix(ending)
    name = stem + ending or otherwise
    plain = "".join(one if one.isascii() else "_" for one in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _intact(originals: Blobs, sha256: str, what: str) -> Path:
    """Blocking; reads all of it."""
    try:
        return originals.sound(sha256)
    except NotFound as error:
        raise NotFound(
            f"The stored original of {what} is missing or was changed. Import the file again to have it back.",
            field="doc_id",
            ids=[what],
        ) from error
