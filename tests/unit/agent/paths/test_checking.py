"""The second look: it is the last one, it holds for every place where a claim stands, and it needs no more room than it has."""

import json
import re

from api.agent.finish import Verified
from api.agent.steps import AskModel, CallTool, Event
from shared.types.runs import Limits
from tests.unit.agent.finished import finish
from tests.unit.agent.paths.walking import held, purposes, seen, walked
from tests.unit.agent.playing import Played, Reaction, Scripted, fails, result, returns, says, search
from tests.unit.agent.texts import ZH

LEAVE = seen(0, "员工工作满一年享有五天年假。年假不得跨年累计。")
SICK = seen(1, "病假最多十天，需提交医院证明。")
HELD = f"员工工作满一年享有五天年假【来源：{LEAVE.block_id}】。"
FALSE = f"年假不得跨年累计【来源：{LEAVE.block_id}】。"  # words find it shown
BARE = "公司对员工一向很好。"  # no source: strict has it mended


def ends(text: str) -> str:
    return f"Action: Finish[{text}]"


def verdicts(*opinions: str) -> str:
    return json.dumps({"verdicts": {str(number): opinion for number, opinion in enumerate(opinions, 1)}})


def strictly(*script: Scripted) -> tuple[Played, Verified]:
    played = walked("verify", "假期怎么规定？", [search("假期"), result(LEAVE, SICK), *script], strict=True)
    return played, finish(played.outcome, wording=ZH, mode="strict")


def test_strict_mends_before_claims_are_looked_up_so_that_nothing_contradicted_comes_back() -> None:
    found = [result(LEAVE), result(LEAVE)]
    script = [ends(HELD + FALSE + BARE), ends(HELD + FALSE), *found, verdicts("supported", "contradicted")]
    played, verified = strictly(*script)
    assert purposes(played) == ["", "", "", "check", "check", "check"]
    assert BARE in played.asked[2].messages[-1].content
    assert (verified.status, verified.text) == ("partial", "员工工作满一年享有五天年假[1]。")
    assert [one.code for one in verified.limitations] == ["claims_dropped"]


def test_what_a_repair_says_anew_is_looked_up_like_all_else() -> None:
    new = f"病假最多十天【来源：{SICK.block_id}】。"
    found = [result(LEAVE), result(SICK)]
    played, verified = strictly(ends(HELD + BARE), ends(HELD + new), *found, verdicts("supported", "supported"))
    assert [call.arguments["query"] for call in played.called[1:]] == ["员工工作满一年享有五天年假。", "病假最多十天。"]
    assert (verified.status, verified.limitations) == ("complete", ())


def test_a_claim_that_stands_twice_is_looked_up_once_and_goes_from_both_places() -> None:
    text = f"{FALSE}\n\n{HELD}{FALSE}"
    script = [search("假期"), result(LEAVE), ends(text), result(LEAVE), result(LEAVE)]
    played = walked("verify", "假期怎么规定？", [*script, verdicts("contradicted", "supported")])
    verified = finish(played.outcome, wording=ZH)
    assert len(played.called) == 3
    assert "累计" not in verified.text
    assert "五天年假" in verified.text
    assert "2 句话" in verified.limitations[0].text


def many(claims: int, *, long: int) -> tuple[Reaction, list[str]]:
    """An answer of so many claims, each from a block of `long` characters; its own search finds that one and another.

    With what each check was asked.
    """
    years = range(10, 10 + claims)
    blocks = {n: seen(n, f"第{n}条：满{n}年享有{n}天年假。" + "字" * long) for n in years}
    others = {n: seen(100 + n, f"实施细则第{n}条：满{n}年享有{n}天年假。" + "词" * long) for n in years}
    asked: list[str] = []

    def react(effect: AskModel | CallTool) -> Event:
        if isinstance(effect, CallTool):
            said = re.search(r"满(\d+)年", str(effect.arguments))
            return returns(
                result(*blocks.values()) if said is None else result(blocks[int(said[1])], others[int(said[1])])
            )
        prompt = effect.messages[-1].content
        if "verdicts" in prompt:
            asked.append(prompt)
            return says(verdicts(*["supported"] * claims))
        if "payload" not in prompt:
            return says(search("年假"))
        return says(ends("".join(f"满{n}年享有{n}天年假【来源：{blocks[n].block_id}】。" for n in years)))

    return react, asked


def test_claims_whose_evidence_is_too_much_for_one_call_are_asked_about_in_portions() -> None:
    react, asked = many(4, long=5_000)
    limits = Limits(max_context_tokens=26_000)  # a token a character: four blocks fit, eight don't
    played = walked("verify", "年假有几天？", react, limits=limits)
    assert len(asked) == 2
    assert all(one.input_tokens <= limits.max_context_tokens for one in played.asked)
    verified = finish(played.outcome, wording=ZH)
    assert (verified.status, verified.limitations) == ("complete", ())


def test_a_conversation_that_is_full_leaves_room_for_the_second_look() -> None:
    react, asked = many(4, long=5_000)
    limits = Limits(max_context_tokens=27_000)
    full = walked("agent", "年假有几天？", react, limits=limits)
    assert full.asked[-1].input_tokens + 5_000 > limits.max_context_tokens - limits.finalization_reserve_tokens
    played = walked("verify", "年假有几天？", react, limits=limits)
    assert asked
    assert played.outcome.limitations == ()
    assert len(held(played)) == 8


def test_a_window_that_is_learned_in_between_makes_smaller_portions() -> None:
    react, asked = many(4, long=1_000)
    small = [fails("provider_context_too_long", window_tokens=6_000)]

    def narrowing(effect: AskModel | CallTool) -> Event:
        checks = isinstance(effect, AskModel) and "verdicts" in effect.messages[-1].content
        return small.pop() if checks and small else react(effect)

    played = walked("verify", "年假有几天？", narrowing)
    assert len(asked) == 2
    assert [one.code for one in played.outcome.limitations] == ["provider_window"]


def test_the_second_opinion_may_use_what_was_kept_back_for_an_answer_that_stands() -> None:
    late = returns(result(LEAVE), elapsed_ms=95_000)  # of 120 s, 90 for looking things up
    script = [search("年假"), result(LEAVE), ends(HELD), late, verdicts("supported")]
    played = walked("verify", "年假有几天？", script)
    assert played.asked[-1].until_ms == 120_000
    assert finish(played.outcome, wording=ZH).status == "complete"


def test_what_fits_into_no_portion_is_counted_and_the_rest_is_judged() -> None:
    react, asked = many(2, long=1_000)
    huge = seen(99, "满11年享有11天年假。" + "字" * 20_000)

    def react_hugely(effect: AskModel | CallTool) -> Event:
        found = isinstance(effect, CallTool) and "满11年" in str(effect.arguments)
        return returns(result(huge)) if found else react(effect)

    played = walked(
        "verify",
        "年假有几天？",
        react_hugely,
        limits=Limits(max_context_tokens=21_100, finalization_reserve_tokens=800),
    )
    assert len(asked) == 1
    verified = finish(played.outcome, wording=ZH)
    assert (verified.status, [one.code for one in verified.limitations]) == ("partial", ["claims_unchecked"])
    assert "1 句话" in verified.limitations[0].text


def test_strict_takes_a_figure_of_the_question_in_a_heading_for_no_claim_on_any_path() -> None:
    text = ends(f"15 天以上的假：\n{HELD}")
    played = walked("agent", "15 天以上的假怎么请？", [search("假"), result(LEAVE), text], strict=True)
    assert purposes(played) == ["", ""]
