"""Documents to try Citebound with, written for it: samples/, named by language."""

import asyncio
from pathlib import Path

from litestar import post
from litestar.di import NamedDependency

from api.callers import NEEDS_WRITE
from api.parts import Parts
from api.routes.imports import accept_import
from shared.types.imports import Import, ImportRequest, SourceSpec, Upload

_FOLDER = Path(__file__).with_name("samples")
LABEL = "Samples 示例"


@post("/samples", opt=NEEDS_WRITE, include_in_schema=False, status_code=202)
async def import_samples(parts: NamedDependency[Parts]) -> Import:
    """Raises: StorageError."""
    uploads = await asyncio.to_thread(_uploads, parts)
    return await accept_import(parts, ImportRequest(uploads=uploads, source=SourceSpec(label=LABEL)))


def _uploads(parts: Parts) -> tuple[Upload, ...]:
    files = [(path.name, path.read_bytes()) for path in sorted(_FOLDER.iterdir())]
    return tuple(
        Upload(name=name, sha256=parts.originals.put(content), size_bytes=len(content)) for name, content in files
    )
