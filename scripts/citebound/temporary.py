"""A whole Citebound on a folder and a free port, for as long as somebody measures or tries it."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.citebound.api import URL, Api
from scripts.citebound.failure import CommandFailed
from scripts.citebound.supervisor.child import Child, Recipe, ending
from scripts.citebound.supervisor.instance import Instance, read_instance
from scripts.citebound.supervisor.supervise import ROOT
from shared.layout import Layout
from shared.lifeline import PARENT_PIPE
from shared.settings_load import CONFIG, config_file, load_settings

_START_S = 180
_STOP_S = 60  # the sum of what the supervisor gives its children


class TemporaryInstance:
    """`citebound up` with the person's own settings, but for where the data lies, who may call and which port it is.

    roots: folders that may be imported. settings: further CITEBOUND_* variables.
    """

    def __init__(self, folder: Path, *, roots: Sequence[Path], settings: Mapping[str, str] | None = None) -> None:
        self.layout = Layout(root=folder / "data")
        self._log = folder / "up.log"
        self._env = _environment(self.layout, roots) | dict(settings or {})
        self._lifeline: tuple[int, int] | None = None
        self._child: Child | None = None
        self._api: Api | None = None

    def start(self) -> Api:
        """Returns once everything answers. Raises: CommandFailed, with what it said."""
        self._lifeline = os.pipe()
        self._child = Child(self._recipe(self._lifeline[0]))
        try:
            instance = self._await_ready(self._child)
        except BaseException:
            self.stop()
            raise
        self._api = Api(instance.address, key=load_settings(os.environ).api.api_key)
        return self._api

    def stop(self) -> None:
        if self._api is not None:
            self._api.close()
        if self._child is not None:
            self._child.stop(hurry=lambda: False)
        for end in self._lifeline or ():
            os.close(end)
        self._api = self._child = self._lifeline = None

    def _recipe(self, lifeline: int) -> Recipe:
        argv = (sys.executable, "-m", "scripts.citebound", "up")
        env = self._env | {PARENT_PIPE: str(lifeline)}
        return Recipe(name="up", argv=argv, env=env, log=self._log, pass_fds=(lifeline,), grace_s=_STOP_S)

    def _await_ready(self, child: Child) -> Instance:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            code = child.exit_code()
            if code is not None:
                lines = "\n".join(child.last_lines())
                raise CommandFailed(
                    f"it did not start: it ended {ending(code)}", remedy=f"it said:\n{lines}", error="child_failed"
                )
            instance = read_instance(self.layout)
            if instance is not None and instance.ready:
                return instance
            time.sleep(0.05)
        raise CommandFailed(
            f"it was not ready within {_START_S} s", remedy="try again on a quieter machine", error="timeout"
        )


def _environment(layout: Layout, roots: Sequence[Path]) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name != URL}
    file = config_file(os.environ)
    if file is not None:
        env[CONFIG] = str(file)
    return env | {
        "CITEBOUND_DATA_DIR": str(layout.root),
        "CITEBOUND_API_HOST": "127.0.0.1",
        "CITEBOUND_API_PORT": "0",
        "CITEBOUND_API_IMPORT_ROOTS": os.pathsep.join(str(root) for root in roots),
        "PYTHONPATH": str(ROOT),
        "PYTHONSAFEPATH": "1",
    }
