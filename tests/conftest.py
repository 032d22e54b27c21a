"""What holds for every test: no setting leaks in, no packet leaves the machine, and what passes once passes always."""

import os
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, in whatever time they take. `--hypothesis-profile=search` draws new ones, and keeps what it finds.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("tests", settings.get_profile("search"), derandomize=True)
settings.load_profile("tests")

for _name in ("http_proxy", "https_proxy", "all_proxy"):  # tests talk with nobody but this machine
    os.environ.pop(_name, None)
    os.environ.pop(_name.upper(), None)

MATERIAL = Path(__file__).resolve().parents[2] / "shared"  # seeds, bench and files, beside the checkout


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-faults", action="store_true", help="every kind of stop at every fault point, not a choice")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("all_faults"):
        return
    left = [item for item in items if item.get_closest_marker("long_tail")]
    items[:] = [item for item in items if item not in left]
    if left:
        config.hook.pytest_deselected(items=left)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in list(os.environ):
        if name.startswith("CITEBOUND_") and not name.startswith("CITEBOUND_TEST_"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True, scope="session")
def _no_packet_leaves_the_machine() -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign]
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]


@pytest.fixture
def material() -> Path:
    if not MATERIAL.is_dir():
        pytest.skip(f"no test material beside the checkout ({MATERIAL.name}/)")
    return MATERIAL
