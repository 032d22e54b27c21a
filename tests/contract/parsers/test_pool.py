"""A file that hangs, grows, crashes or babbles fails alone, and the next one is read as if nothing had been."""

import os
import threading
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from shared.errors import DocumentError
from tests.contract.parsers.broken import FINE
from tests.patience import PATIENCE_S
from worker.parsers import ParserPool
from worker.parsers.pool import Patience

ANY = Path(os.devnull)
pytestmark = pytest.mark.slow


def a_pool(timeout_s: float) -> ParserPool:
    return ParserPool(timeout_s=timeout_s, memory_mb=300, entry="tests.contract.parsers.broken:misbehave")


@pytest.fixture
def pool() -> Generator[ParserPool]:
    pool = a_pool(PATIENCE_S)
    yield pool
    pool.close()


@pytest.mark.parametrize("how", ["hang", "spin"])
def test_a_file_that_takes_too_long_fails_alone(how: str) -> None:
    pool = a_pool(2)  # enough for the next one on a machine that is busy
    with pytest.raises(DocumentError) as error:
        pool.parse(ANY, name=how)
    assert error.value.code == "parse_timeout"
    assert pool.parse(ANY, name="fine") == FINE
    pool.close()


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("eat", "parse_memory"),
        ("memory", "parse_memory"),
        ("segfault", "parse_crashed"),
        ("exit", "parse_crashed"),
        ("raise", "parse_crashed"),
        ("babble", "parse_crashed"),
        ("online", "parse_crashed"),
        ("reject", "encrypted"),
    ],
)
def test_a_bad_file_fails_alone_with_its_own_code(pool: ParserPool, how: str, code: str) -> None:
    with pytest.raises(DocumentError) as error:
        pool.parse(ANY, name=how)
    assert error.value.code == code
    assert pool.parse(ANY, name="fine") == FINE


def test_what_a_library_prints_does_not_disturb_the_answer(pool: ParserPool) -> None:
    assert pool.parse(ANY, name="print") == FINE


def test_one_child_reads_many_documents(pool: ParserPool) -> None:
    assert len({pool.parse(ANY, name="who").title for _ in range(5)}) == 1


def test_a_child_that_ended_while_idle_is_replaced_without_a_word(pool: ParserPool) -> None:
    child = psutil.Process(int(pool.parse(ANY, name="who").title))
    child.kill()
    _gone(child)
    assert pool.parse(ANY, name="fine") == FINE


def test_the_child_sees_no_setting_and_no_key(pool: ParserPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBOUND_CHAT__API_KEY", "sk-secret")
    assert "CITEBOUND" not in pool.parse(ANY, name="environment").title


def test_two_threads_parse_at_the_same_time(tmp_path: Path) -> None:
    pool = a_pool(PATIENCE_S)
    answers: list[object] = []
    threads = [threading.Thread(target=lambda: answers.append(pool.parse(tmp_path, name="meet"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    pool.close()
    assert answers == [FINE, FINE]


def test_a_machine_that_stood_still_for_an_hour_has_not_waited_for_an_hour() -> None:
    clock = iter([0.0, 0.5, 1.0, 3601.0, 3601.5])
    patience = Patience(5, monotonic_s=lambda: next(clock))
    assert [patience.left_s() for _ in range(4)] == [4.5, 4.0, 3.0, 2.5]


def test_closing_ends_the_children(pool: ParserPool) -> None:
    child = psutil.Process(int(pool.parse(ANY, name="who").title))
    pool.close()
    _gone(child)


def _gone(child: psutil.Process) -> None:
    psutil.wait_procs([child], timeout=PATIENCE_S)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
