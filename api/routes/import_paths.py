"""Which paths of this server may be imported."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from shared.errors import InvalidArgument
from shared.loopback import is_loopback
from shared.settings import Settings


def roots(settings: Settings) -> tuple[Path, ...]:
    """CITEBOUND_API_IMPORT_ROOTS; without it, and on loopback only, the owner's home."""
    if settings.api.import_roots:
        return tuple(Path(root) for root in settings.api.import_roots)
    if is_loopback(settings.api.host):
        return (Path.home(),)
    return ()


def check_paths(paths: Sequence[str], allowed: Sequence[Path], *, must_exist: bool = True) -> tuple[str, ...]:
    """The same paths, links resolved. Blocking. `must_exist` False: to be taken out, whether they are still there or not.

    Raises: InvalidArgument for one that is relative, missing, unreadable or outside of every allowed folder.
    """
    real_roots = [root.resolve() for root in allowed]
    return tuple(_check(index, path, real_roots, must_exist=must_exist) for index, path in enumerate(paths))


def _check(index: int, path: str, allowed: Sequence[Path], *, must_exist: bool) -> str:
    field = f"paths[{index}]"
    if "\0" in path or not Path(path).is_absolute():
        raise InvalidArgument(f"{path!r} is not an absolute path on this server.", field=field)
    real = Path(os.path.realpath(path))  # Path.resolve raises for a link to itself
    # Outside first: whether something exists there is nobody's business.
    if not any(real.is_relative_to(root) for root in allowed):
        listed = ", ".join(map(str, allowed)) or "none"
        raise InvalidArgument(
            f"{path} is not in a folder that may be imported ({listed}). Upload the files instead (import --upload), or name the folder in"
            " CITEBOUND_API_IMPORT_ROOTS.",
            field=field,
        )
    if not must_exist:
        return str(real)
    try:
        mode = real.stat().st_mode
        if stat.S_ISDIR(mode):
            next(real.iterdir(), None)
        elif stat.S_ISREG(mode):
            real.open("rb").close()
        else:  # opening a pipe waits for its writer
            raise InvalidArgument(f"{path} is neither a file nor a folder.", field=field)
    except OSError as error:
        raise InvalidArgument(f"{path} can't be read: {error.strerror}.", field=field) from error
    return str(real)
