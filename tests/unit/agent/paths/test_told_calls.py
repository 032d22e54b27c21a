"""The loop's rules name the tool calls that the loop has, whoever made some before it or keeps some back."""

import pytest

from shared.types.runs import Limits, PathName
from tests.unit.agent.paths.walking import seen, walked
from tests.unit.agent.playing import Played, Scripted, fails, result

CAR = seen(2, "停车位按月租用。")
REFUSE = "Action: Refuse[没有找到。]"


def told(played: Played) -> list[str]:
    """The rules of every call that has some."""
    rules = [message.content for ask in played.asked for message in ask.messages[:1] if message.role == "system"]
    return [one for one in dict.fromkeys(rules) if "最多调用工具" in one]


@pytest.mark.parametrize(
    ("path", "before", "most", "calls"),
    [
        ("agent", [], 8, 8),
        ("verify", [], 8, 4),
        ("verify", [], 5, 3),
        ("verify", [], 1, 1),
        ("plan", [fails("provider_auth")], 8, 8),
        ("pipeline", [result(CAR)], 8, 7),
        ("pipeline", [result(CAR)], 2, 1),
    ],
)
def test_the_loop_is_told_of_the_calls_that_it_has(
    path: PathName, before: list[Scripted], most: int, calls: int
) -> None:
    limits = Limits(max_tool_calls=most)
    played = walked(path, "E-4021 是什么意思？", [*before, REFUSE], reason="exact_identifier", limits=limits)
    assert told(played) == [f"规则：最多调用工具 {calls} 次"]
