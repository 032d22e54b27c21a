"""How a folder of prompt bundles is written: one writer at a time, a whole bundle or none. Blocking."""

import fcntl
import os
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from shared.errors import StorageError
from shared.prompts import BundleManifest, write_manifest

_LOCK = ".lock"


@contextmanager
def one_writer(folder: Path) -> Generator[None]:
    """Hold the folder's lock, which other processes respect as well. Raises: StorageError, for what is written inside too."""
    with _storing():
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def put_bundle(root: Path, manifest: BundleManifest, sources: Mapping[str, str]) -> None:
    """A whole bundle or none: written beside its place and moved there. Raises: StorageError."""
    with _storing():
        root.parent.mkdir(parents=True, exist_ok=True)
        beside = root.parent / f".{root.name}-{uuid4().hex}"
        try:
            for path, text in sources.items():
                (beside / path).parent.mkdir(parents=True, exist_ok=True)
                (beside / path).write_bytes(text.encode())
            write_manifest(beside, manifest)
            beside.rename(root)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def next_version(folder: Path) -> int:
    """The number of a bundle's next version; `folder` holds its versions and need not be there."""
    taken = [int(path.name) for path in folder.glob("[1-9]*") if path.name.isdigit()]
    return max(taken, default=0) + 1


@contextmanager
def _storing() -> Generator[None]:
    """Turn the disk's failures into ours."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{error.filename} can't be written: {error.strerror}.") from error
