"""Starts the broker, the worker and the API, keeps them running, stops them in order.

What the settings replace by an address is not started. The lock, the listening socket and the lifeline pipe live here, so a child
can die and come back without a client losing its connection attempt, and no child outlives this process.
"""

import os
import socket
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from scripts.citebound.doctor.configured import in_force
from scripts.citebound.failure import CommandFailed
from scripts.citebound.supervisor import broker
from scripts.citebound.supervisor.child import Child, Recipe, ending
from scripts.citebound.supervisor.instance import Instance, claim_folder, forget_instance, write_instance
from scripts.citebound.supervisor.listening import address_of, listen
from scripts.citebound.supervisor.logs import rotate
from scripts.citebound.supervisor.readiness import read_readiness
from scripts.citebound.supervisor.restarts import Again, GiveUp, after_death
from scripts.citebound.supervisor.signals import Signals
from shared.clock import now_ms
from shared.errors import SettingsError
from shared.layout import Layout
from shared.lifeline import PARENT_PIPE, START_AGAIN
from shared.settings import Settings
from shared.settings_load import load_settings

ROOT: Final = Path(__file__).resolve().parents[3]
READY_S: Final = 120  # for the API to load its model and open the snapshot on a slow machine
BROKER_S: Final = 60  # for the broker to read its file back
_POLL_S: Final = 0.05


class _Due(Struct, frozen=True, kw_only=True):
    recipe: Recipe
    at: float  # monotonic


class Supervisor:
    """tell: one line about what is going on, for people."""

    def __init__(
        self, settings: Settings, *, env: Mapping[str, str], signals: Signals, tell: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._env = env
        self._signals = signals
        self._tell = tell
        self._layout = Layout(root=Path(settings.data_dir))
        self._children: dict[str, Child] = {}
        self._quick_deaths: dict[str, int] = {}
        self._due: dict[str, _Due] = {}
        self._lock: int | None = None
        self._listening: socket.socket | None = None
        self._lifeline: tuple[int, int] | None = None
        self._started_at_ms = now_ms()
        self._ready = False
        self._unnoted = False  # what is written down of this instance is not what it is
        self.address = ""
        self.troubles: tuple[str, ...] = ()  # what failed though everything runs

    def start(self) -> None:
        """Until everything answers, or somebody asks to stop. Raises: CommandFailed; call `stop` in any case."""
        self._create_folder()
        self._lock = claim_folder(self._layout, tell=self._tell)
        self._listening = listen(self._settings.api.host, self._settings.api.port)
        self.address = address_of(self._listening)
        self._note()
        self._lifeline = os.pipe()
        env = self._child_environment()
        if self._settings.broker.url is None:
            env["CITEBOUND_BROKER_URL"] = self._start_broker(env)
        self._start(self._worker(env))
        self._start(self._api(env))
        self._await("api", READY_S, self._is_ready)
        self._ready = not self._signals.stopping
        self._note()

    def tend(self) -> None:
        """Look after the children once, then wait for the next thing to happen. Raises: CommandFailed when one can't be kept alive."""
        for name, child in list(self._children.items()):
            code = child.exit_code()
            if code is not None:
                self._died(name, child, code)
        now = time.monotonic()
        for name, due in list(self._due.items()):
            if due.at <= now:
                del self._due[name]
                self._start(due.recipe)
        if self._unnoted:
            self._note()
        self._signals.wait(min((due.at - now for due in self._due.values()), default=1.0))

    def stop(self) -> None:
        """API, worker, broker: each may still need the next. Bounded by the sum of their grace; a second request ends the patience."""
        if self._listening is not None:
            self._listening.close()  # from here on clients are refused, not left waiting
        for name in reversed(list(self._children)):
            child = self._children.pop(name)
            if not child.stop(hurry=lambda: self._signals.asked > 1):
                self._tell(f"{name} did not stop by itself and was ended")
        if self._lock is not None:
            if self._settings.broker.url is None:
                broker.clear_socket(broker.socket_path(self._layout.broker), self._layout.broker)
            forget_instance(self._layout)
            os.close(self._lock)
        if self._lifeline is not None:
            for end in self._lifeline:
                os.close(end)

    def _create_folder(self) -> None:
        try:
            self._layout.create()
        except OSError as error:
            raise CommandFailed(
                f"can't write to the data folder {self._layout.root}: {error.strerror}",
                remedy="make it writable, or choose another one in CITEBOUND_DATA_DIR",
                error="storage_unavailable",
            ) from error

    def _child_environment(self) -> dict[str, str]:
        assert self._lifeline is not None
        ours = {
            "PYTHONPATH": str(ROOT),
            "PYTHONSAFEPATH": "1",  # no folder a person happens to stand in may shadow ours
            "PYTHONUNBUFFERED": "1",
            "PYTHONFAULTHANDLER": "1",
            "TIKTOKEN_CACHE_DIR": "",  # its ranks lie in the packages; a copy in a temporary folder open to all is no gain
        }
        return {
            **self._env,
            **ours,
            "CITEBOUND_DATA_DIR": str(self._layout.root),
            PARENT_PIPE: str(self._lifeline[0]),
        }

    def _recipe(
        self, name: str, argv: list[str], env: Mapping[str, str], *, grace_s: float, fds: tuple[int, ...] = ()
    ) -> Recipe:
        assert self._lock is not None
        assert self._lifeline is not None
        return Recipe(
            name=name,
            argv=(sys.executable, *argv),
            env=env,
            log=self._layout.logs / f"{name}.log",
            pass_fds=(self._lock, self._lifeline[0], *fds),
            grace_s=grace_s,
        )

    def _start_broker(self, env: Mapping[str, str]) -> str:
        folder = self._layout.broker
        path = broker.socket_path(folder)
        broker.prepare_socket(path)
        serve = broker.arguments(broker.server_binary(), folder, path)
        guarded = ["-m", "scripts.citebound.supervisor.guard", *serve]
        self._start(self._recipe("broker", guarded, env, grace_s=12))
        self._await("broker", BROKER_S, lambda: broker.answers(path))
        return f"unix://{path}"

    def _worker(self, env: Mapping[str, str]) -> Recipe:
        # Two threads that give way: the API's own embedding of a query must not wait for a spinning worker
        tuned = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", **env}
        return self._recipe("worker", ["-m", "worker"], tuned, grace_s=20)

    def _api(self, env: Mapping[str, str]) -> Recipe:
        assert self._listening is not None
        number = self._listening.fileno()
        tuned = {"OMP_NUM_THREADS": "1", **env}
        return self._recipe("api", ["-m", "api", "--fd", str(number)], tuned, grace_s=10, fds=(number,))

    def _start(self, recipe: Recipe) -> None:
        if recipe.name not in self._quick_deaths:
            rotate(recipe.log)
        self._quick_deaths.setdefault(recipe.name, 0)
        self._children[recipe.name] = Child(recipe)
        self._note()

    def _note(self) -> None:
        """A disk without room for it takes nobody down: it is tried again while the children are looked after."""
        noted = Instance(
            address=self.address,
            pid=os.getpid(),
            children={name: child.pid for name, child in self._children.items()},
            started_at_ms=self._started_at_ms,
            ready=self._ready,
            settings=in_force(self._settings),
        )
        try:
            write_instance(self._layout, noted)
        except OSError as error:
            if not self._unnoted:
                self._tell(f"{self._layout.running} can't be written ({error.strerror}); it is tried again")
            self._unnoted = True
        else:
            self._unnoted = False

    def _await(self, what: str, seconds: float, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + seconds
        while not self._signals.stopping and not ready():
            for name, child in self._children.items():
                code = child.exit_code()
                if code is not None:
                    raise self._broken(f"the {name} ended while starting, {ending(code)}", child)
            if time.monotonic() > deadline:
                raise self._broken(f"the {what} was not ready within {seconds:.0f} s", self._children[what])
            self._signals.wait(_POLL_S)

    def _is_ready(self) -> bool:
        """True when no part is loading any more. A part that failed (a damaged snapshot, say) must not keep people from mending it."""
        parts = read_readiness(self.address, key=self._settings.api.api_key, timeout_s=5)
        if parts is None or any(part.state == "loading" for part in parts.values()):
            return False
        self.troubles = tuple(f"{name}: {part.detail}" for name, part in parts.items() if part.state == "failed")
        return True

    def _renew(self, name: str, child: Child) -> None:
        """A child asked to be started again: with the settings as they are by now. The worker only when it goes by what changed."""
        before = self._settings
        try:
            self._settings = load_settings(self._env)
        except (
            SettingsError
        ) as error:  # it was saved by hand since: what is wrong stands in the child's own log as well
            self._tell(f"the settings can't be read: {error.message}")
        self._tell(f"the {name} starts again, as it was asked to")
        self._quick_deaths[name] = 0
        self._start(child.recipe)
        if structs.replace(before, chat=self._settings.chat, rerank=self._settings.rerank) != self._settings:
            worker = self._children.pop("worker", None)
            if worker is not None:
                worker.stop(hurry=lambda: self._signals.stopping)
                self._start(worker.recipe)
                self._children[name] = self._children.pop(name)  # the last to start is the first to stop

    def _died(self, name: str, child: Child, code: int) -> None:
        if code == START_AGAIN:
            self._renew(name, child)
            return
        verdict = after_death(lived_ms=child.lived_ms(), quick_deaths=self._quick_deaths[name])
        if isinstance(verdict, GiveUp):
            raise self._broken(
                f"the {name} ended {verdict.quick_deaths} times in a row, the last time {ending(code)}", child
            )
        self._again(name, child, code, verdict)

    def _again(self, name: str, child: Child, code: int, verdict: Again) -> None:
        del self._children[name]
        self._quick_deaths[name] = verdict.quick_deaths
        self._tell(f"the {name} ended {ending(code)}; starting it again in {verdict.wait_ms / 1000:.1f} s")
        self._due[name] = _Due(recipe=child.recipe, at=time.monotonic() + verdict.wait_ms / 1000)

    def _broken(self, message: str, child: Child) -> CommandFailed:
        lines = "\n".join(f"    {line}" for line in child.last_lines()) or "    (it wrote nothing)"
        remedy = f"its log ends:\n{lines}\n  the whole log: {child.recipe.log}"
        if child.recipe.name == "broker":
            remedy += f"\n  if its file is damaged, move {self._layout.broker} away: imports are kept in the catalog, nothing is lost"
        return CommandFailed(message, remedy=remedy, error="child_failed")
