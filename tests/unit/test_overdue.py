"""What may never come back is waited for as long as was said, and no longer."""

import threading

import pytest

from shared.overdue import Overdue, Patient
from tests.patience import PATIENCE_S


def test_what_comes_back_is_what_it_came_to() -> None:
    patient = Patient(PATIENCE_S)
    assert patient.call(lambda: "密钥") == "密钥"
    with pytest.raises(ValueError, match="x"):
        patient.call(lambda: int("x"))


def test_what_does_not_is_given_up_and_nothing_else_is_tried_until_it_does() -> None:
    unlocked, tried = threading.Event(), list[str]()
    patient = Patient(1)  # so long the first takes; the third has to come back within it
    try:
        with pytest.raises(Overdue):
            patient.call(lambda: unlocked.wait(PATIENCE_S) and tried.append("first"))
        with pytest.raises(Overdue):
            patient.call(lambda: tried.append("second"))
        assert tried == []
    finally:
        unlocked.set()
    for thread in threading.enumerate():
        if thread.name == "patient":
            thread.join(PATIENCE_S)
    assert tried == ["first"]
    patient.call(lambda: tried.append("third"))
    assert tried == ["first", "third"]
