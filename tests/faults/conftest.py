"""Fault tests wait far more than they compute: those marked `beside` run ahead, several at a time, each in a thread with a site of its own.

The test's own turn then waits for the outcome. They may take `world` and their parameters, no other fixture.
"""

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.faults.world import Row, World

LANES = 4
_table: list[Row] = []


class Lanes:
    def __init__(self, world: World, items: list[pytest.Function]) -> None:
        self._pool = ThreadPoolExecutor(LANES, thread_name_prefix="lane")
        self._outcomes: dict[str, Future[None]] = {}
        for item in sorted(items, key=_patience):
            parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
            body: Callable[..., None] = item.obj
            self._outcomes[item.nodeid] = self._pool.submit(body, world=world, **parameters)

    def await_outcome(self, item: pytest.Function) -> None:
        self._outcomes[item.nodeid].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    world = World(tmp_path_factory.mktemp("faults"))
    yield world
    _table.extend(world.table)
    world.close()


@pytest.fixture(scope="session")
def lanes(world: World, request: pytest.FixtureRequest) -> Generator[Lanes]:
    selected = [item for item in request.session.items if isinstance(item, pytest.Function)]
    lanes = Lanes(world, [item for item in selected if item.get_closest_marker("beside")])
    yield lanes
    lanes.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object | None:
    """A test that ran ahead is not run again: its outcome is its result."""
    if pyfuncitem.get_closest_marker("beside") is None:
        return None
    lanes: Lanes = pyfuncitem._request.getfixturevalue("lanes")  # pyright: ignore[reportPrivateUsage]: no other way
    lanes.await_outcome(pyfuncitem)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """`-v` shows what each fault came to."""
    if not _table or terminalreporter.config.get_verbosity() < 1:
        return
    terminalreporter.section("faults")
    width, place = max(len(row.fault) for row in _table), max(len(row.where) for row in _table)
    for row in sorted(_table, key=lambda row: (row.fault, row.where)):
        terminalreporter.line(
            f"{row.fault:<{width}}  {row.where:<{place}}  {row.result}, bought twice: {row.bought_twice}"
        )


def _patience(item: pytest.Function) -> int:
    """Those that wait longest begin first."""
    return 0 if item.get_closest_marker("patient") else 1
