"""Apps that live more than once: their routes cost a tenth of a second to make, and hundreds of tests want an app."""

from collections.abc import Generator
from contextlib import contextmanager

from litestar import Litestar

from api.app import Life, build_app

_idle: dict[int, list["_App"]] = {}  # by the largest body they take, which can't be changed


class _App:
    def __init__(self, max_body_bytes: int) -> None:
        self.life: Life | None = None
        self.app: Litestar = build_app(self._now, max_body_bytes=max_body_bytes)

    def _now(self) -> Life:
        assert self.life is not None, "the app has no life at the moment"
        return self.life


@contextmanager
def living(life: Life) -> Generator[Litestar]:
    """An app with this life. One whose test failed is not used again."""
    idle = _idle.setdefault(life.settings.max_body_bytes, [])
    one = idle.pop() if idle else _App(life.settings.max_body_bytes)
    one.life = life
    yield one.app
    one.life = None
    idle.append(one)
