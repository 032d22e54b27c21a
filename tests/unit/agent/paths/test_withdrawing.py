"""What the last call can't carry is withdrawn, the newest first, on every path: the answer is partial and no run fails for its length."""

import json
from itertools import count as numbers

import msgspec
import pytest
from msgspec import Struct

from api.agent.decisions import Finish
from api.agent.observation import opened
from api.agent.steps import AskModel, CallTool, Event
from shared.llm.port import ChatUsage
from shared.types.runs import Limits, PathName
from tests.promises import promise
from tests.unit.agent.finished import finish
from tests.unit.agent.paths.walking import held, seen, walked
from tests.unit.agent.playing import Played, Reaction, fails, result, returns, says, search
from tests.unit.agent.texts import ZH

QUESTION = "年假有几天？病假有几天？婚假有几天？"
PARTS = [{"id": one, "question": f"{name}有几天？"} for one, name in zip("abc", ("年假", "病假", "婚假"), strict=True)]
REPLIES = (
    ("gives", {"questions": PARTS}),
    ('"queries"', {"queries": ["休假 天数", "假期 长短"]}),
    ('"query"', {"query": "假期"}),
)
ANSWER = f"Action: Finish[年假有1天【来源：{seen(1, '').block_id}】。]"


def small_window(window: int, *, told: bool, filler: int = 2_000, ratio: int = 1) -> Reaction:
    """A provider that refuses what doesn't fit into `window`, and says so or not; it counts `ratio` tokens where we count one."""
    looks = numbers(1)

    def react(effect: AskModel | CallTool) -> Event:
        if isinstance(effect, CallTool):
            number = next(looks)
            return returns(result(seen(number, f"年假、病假和婚假有几天？年假有{number}天。"), filler=filler + number))
        own = sum(len(message.content) + 5 for message in effect.messages)
        if ratio * own + effect.max_output_tokens > window:
            return fails("provider_context_too_long", window_tokens=window if told else None)
        text = _said(effect, query=f"假期{own}")
        return says(text, usage=ChatUsage(input_tokens=ratio * own, output_tokens=len(text)))

    return react


def _said(ask: AskModel, *, query: str) -> str:
    prompt = ask.messages[-1].content
    if ask.final:
        return ANSWER
    aside = len(ask.messages) == 1
    return next(
        (json.dumps(reply, ensure_ascii=False) for mark, reply in REPLIES if aside and mark in prompt), search(query)
    )


def shown(played: Played) -> list[str]:
    """Block ids in the observations that the last call carried."""
    found = [opened(text) for message in played.asked[-1].messages for text in message.content.split("\n\n")]
    payloads = [msgspec.json.decode(one.payload, type=Payload | None) for one in found if one]
    return [block.block_id for payload in payloads if payload for block in payload.blocks]


class Shown(Struct):
    block_id: str


class Payload(Struct):
    blocks: tuple[Shown, ...]


LIMITS = Limits(finalization_reserve_tokens=1_500)


@promise("P4")
@pytest.mark.parametrize("told", [True, False], ids=["told", "untold"])
@pytest.mark.parametrize("window", [2_900, 4_500, 5_500, 7_000])
@pytest.mark.parametrize("path", ["agent", "plan", "verify"])
def test_a_small_window_never_fails_a_run_that_has_something_to_withdraw(
    path: PathName, window: int, told: bool
) -> None:
    played = walked(path, QUESTION, small_window(window, told=told), limits=LIMITS)
    verified = finish(played.outcome, wording=ZH)
    assert "context_budget_exceeded" in {one.code for one in verified.limitations}
    if path == "verify":  # which looks things up once more afterwards, and may leave nothing of the answer
        assert verified.status in ("partial", "refused")
    else:
        assert (verified.status, verified.reason) == ("partial", "context_budget_exceeded")
        assert [one.code for one in verified.limitations].count("context_budget_exceeded") == 1
        assert held(played) == shown(played) == [seen(one, "").block_id for one in range(1, len(held(played)) + 1)]


@promise("P4")
def test_only_as_much_is_withdrawn_as_does_not_fit() -> None:
    left = [len(held(walked("plan", QUESTION, small_window(window, told=True)))) for window in (2_900, 5_500, 7_500)]
    assert left == [0, 1, 2]


def test_a_request_for_an_answer_says_so_when_nothing_is_left_to_answer_from() -> None:
    for path in ("agent", "plan"):
        played = walked(path, QUESTION, small_window(2_900, told=False), limits=LIMITS)
        assert held(played) == []
        assert "不要凭记忆作答" in played.asked[-1].messages[-1].content


@promise("P4")
def test_a_path_that_dropped_blocks_withdraws_as_any_other_and_brings_none_of_them_back() -> None:
    car, meals, sick = seen(2, "停车位按月租用。"), seen(5, "工作餐每天补贴二十元。"), seen(1, "病假最多十天。")
    played = walked(
        "pipeline",
        "工作餐的补贴标准是多少？",
        [
            '{"query": "餐补标准"}',
            result(car),
            '{"queries": ["工作餐补贴", "伙食补助"]}',
            result(meals),
            result(meals, sick, filler=500),
            fails("provider_context_too_long"),
            f"Action: Finish[二十元【来源：{meals.block_id}】。]",
        ],
    )
    verified = finish(played.outcome, wording=ZH)
    assert (held(played), shown(played)) == ([meals.block_id], [meals.block_id])
    assert (verified.status, verified.reason) == ("partial", "context_budget_exceeded")
    assert [one.verdict for one in verified.citations] == ["supported"]


@promise("P4")
@pytest.mark.parametrize("ratio", [1, 2, 3, 4])
@pytest.mark.parametrize("most", [20_000, 40_000])
def test_a_provider_that_counts_more_than_we_do_costs_evidence_and_not_the_answer(ratio: int, most: int) -> None:
    limits = Limits(max_context_tokens=20_000, max_request_tokens=most, finalization_reserve_tokens=1_500)
    played = walked("agent", QUESTION, small_window(10**6, told=False, ratio=ratio), limits=limits)
    assert isinstance(played.outcome.ending, Finish)
    assert finish(played.outcome, wording=ZH).status == "partial"


def test_what_calls_carried_is_taken_out_as_the_provider_counted_it() -> None:
    for ratio in (1, 2, 3):
        played = walked("agent", QUESTION, small_window(9_000 * ratio, told=False, ratio=ratio), limits=Limits())
        assert held(played)
        expected = ratio * sum(len(message.content) + 5 for message in played.asked[-1].messages)
        assert played.asked[-1].input_tokens == pytest.approx(expected, rel=0.05)
