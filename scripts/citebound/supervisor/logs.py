"""Log files of the supervised processes: a new one at each start of the supervisor, a few old ones kept."""

from pathlib import Path
from typing import Final

KEPT: Final = 3


def rotate(log: Path) -> None:
    """Make room for a new `log`: log -> log.1 -> log.2 -> log.3; the oldest goes."""
    for number in range(KEPT, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        newer = log if number == 1 else log.with_name(f"{log.name}.{number - 1}")
        if newer.exists():
            newer.replace(older)


def tail(log: Path, *, lines: int = 15, since: int = 0) -> list[str]:
    """The last lines written after byte `since`; [] when there are none."""
    if not log.exists():
        return []
    with log.open("rb") as file:
        end = file.seek(0, 2)
        file.seek(max(since, end - 64 * 1024))
        return file.read().decode(errors="replace").splitlines()[-lines:]
