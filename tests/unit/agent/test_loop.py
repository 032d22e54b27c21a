"""The loop: every way a run goes and ends, decided without a model."""

import json
from typing import Any, get_args

import pytest

from api.agent.budget import CLOSING_TOKENS, Refused
from api.agent.decisions import Finish
from api.agent.observation import opened
from api.agent.steps import Admission, AskModel, Braked, Broken, CallTool, Event, Misspoken, Replied, Retried
from shared.llm.port import ChatUsage, FunctionCall
from shared.types.events import ToolResulted, TurnStarted
from shared.types.runs import Limits, ProtocolName, Usage
from tests.unit.agent.finished import finish
from tests.unit.agent.playing import (
    DOC,
    Played,
    block,
    count,
    fails,
    observations,
    play,
    result,
    returns,
    says,
    search,
)
from tests.unit.agent.texts import WORDINGS

ENDED = '{"answer": "五天"}'
FINISH = f"Thought: 够了\nAction: Finish[五天【来源：{DOC}.v1#0】]"


def ending(played: Played) -> tuple[str, str]:
    end = played.outcome.ending
    return (end.ending if isinstance(end, Finish) else "broken", played.outcome.reason)


def envelope(text: str) -> dict[str, Any]:
    return json.loads(text.split("\n\n")[0])


def test_a_search_and_an_answer_make_a_run() -> None:
    played = play([search("年假"), result(block(0)), FINISH])
    assert ending(played) == ("answer", "finished")
    assert [call.arguments for call in played.called] == [{"query": "年假"}]
    assert [entry.block_id for entry in played.outcome.ledger.entries] == [f"{DOC}.v1#0"]
    assert played.outcome.ledger.entries[0].query == "年假"
    assert played.outcome.limitations == ()


def test_the_observation_is_the_payload_unchanged_in_its_envelope() -> None:
    found = result(block(0))
    played = play([search("年假"), found, FINISH])
    text = observations(played.asked[1])[0]
    assert (
        text == '{"harness_status":"ok","tool":"search_blocks","payload":' + found.payload.decode() + ',"message":""}'
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Action: Finish[好]", ("answer", "finished")),
        ("Action: Refuse[没有]", ("refusal", "refused")),
        ("Action: Clarify[哪一年？]", ("clarification", "clarification")),
    ],
)
def test_a_model_ends_a_run_in_three_ways(reply: str, expected: tuple[str, str]) -> None:
    assert ending(play([reply])) == expected


def test_a_protocol_error_is_told_and_the_run_goes_on() -> None:
    played = play(["五天。", FINISH])
    assert ending(played) == ("answer", "finished")
    told = envelope(observations(played.asked[1])[0])
    assert (told["harness_status"], told["payload"]) == ("protocol_error", None)
    assert json.loads(told["message"])["problem"] == "no_action"


@pytest.mark.parametrize(
    ("protocol", "finish"),
    [("react", says(FINISH)), ("tools", says("", calls=(FunctionCall(call_id="c", name="finish", arguments=ENDED),)))],
)
def test_an_unusable_reply_that_overran_does_not_fill_the_context(protocol: ProtocolName, finish: Replied) -> None:
    limits = Limits()
    overrun = says("Thought: " + "想" * limits.max_context_tokens, finish_reason="length")
    played = play([overrun, finish], protocol=protocol, limits=limits)
    assert ending(played) == ("answer", "finished")
    assert played.asked[1].input_tokens - played.asked[0].input_tokens < limits.finalization_reserve_tokens


def test_two_protocol_errors_in_a_row_end_a_run_without_evidence() -> None:
    played = play(["五天。", "五天。"])
    assert ending(played) == ("broken", "protocol_error")


def test_two_protocol_errors_in_a_row_with_evidence_in_hand_ask_once_for_the_answer() -> None:
    played = play([search("年假"), result(block(0)), "五天。", "五天。", FINISH])
    assert ending(played) == ("answer", "protocol_error")
    assert played.asked[-1].final
    assert [one.code for one in played.outcome.limitations] == ["protocol_error"]


def test_an_action_between_two_protocol_errors_starts_the_count_again() -> None:
    played = play(["五天。", search("年假"), result(block(0)), "五天。", FINISH])
    assert ending(played) == ("answer", "finished")


def test_a_tool_that_is_not_on_the_list_never_runs() -> None:
    played = play(['Action: web_search[{"query": "a"}]', FINISH])
    assert played.called == ()
    assert envelope(observations(played.asked[1])[0])["harness_status"] == "tool_unavailable"
    assert played.outcome.spent.tool_calls == 0


def test_an_empty_reply_is_not_put_into_the_history() -> None:
    played = play(["", FINISH])
    assert [message.role for message in played.asked[1].messages] == ["system", "user"]


# --- brakes


def test_the_count_brake_closes_the_tools_and_asks_for_the_answer() -> None:
    limits = Limits(max_tool_calls=2)
    played = play([search("a"), result(block(0)), search("b"), result(block(1)), FINISH], limits=limits)
    assert ending(played) == ("answer", "brake_count")
    assert [turn.final for turn in played.noted(TurnStarted) if isinstance(turn, TurnStarted)] == [False, False, True]
    assert played.noted(Braked) == [Braked(kind="brake_count")]
    assert [one.code for one in played.outcome.limitations] == ["brake_count"]


def test_no_tools_at_all_means_one_final_turn() -> None:
    played = play(["Action: Refuse[没有查]"], limits=Limits(max_tool_calls=0))
    assert ending(played) == ("refusal", "brake_count")
    assert [ask.final for ask in played.asked] == [True]


def test_two_retrievals_in_a_row_without_gain_close_the_tools() -> None:
    known = [block(index) for index in range(4)]
    script = [
        search("a"),
        result(*known),
        search("b"),
        result(*known),
        search("c"),
        result(*known[:3], block(9)),
        FINISH,
    ]
    played = play(script)
    assert ending(played) == ("answer", "brake_gain")


def test_exactly_seventy_percent_known_blocks_are_still_gain() -> None:
    known = [block(index) for index in range(7)]
    mixed = result(*known, block(10), block(11), block(12))
    played = play([search("a"), result(*known), search("b"), mixed, search("c"), result(*known), FINISH])
    assert ending(played) == ("answer", "finished")


def test_a_block_known_as_a_snippet_is_gain_when_read_whole() -> None:
    scan = 'Action: scan_term[{"term": "年假"}]'
    read = f'Action: list_blocks[{{"doc_id": "{DOC}", "section_paths": ["年假"]}}]'
    played = play(
        [
            scan,
            result(block(0, "年假", extent="snippet")),
            scan.replace("年假", "假"),
            result(block(0, "年假", extent="snippet")),
            read,
            result(block(0, "年假五天。")),
            FINISH,
        ]
    )
    assert ending(played) == ("answer", "finished")
    assert [(entry.extent, entry.seen) for entry in played.outcome.ledger.entries] == [("block", "年假五天。")]


def test_a_repeated_call_is_answered_from_memory_and_told_so() -> None:
    played = play([search("a"), result(block(0)), search("a"), FINISH])
    assert len(played.called) == 1
    told = envelope(observations(played.asked[2])[1])
    assert (told["harness_status"], told["payload"]) == ("ok", {"repeats_turn": 1})
    assert played.outcome.spent.tool_calls == 2


def test_arguments_in_another_order_are_the_same_call() -> None:
    first = 'Action: search_blocks[{"query": "a", "doc_ids": ["x"]}]'
    second = 'Action: search_blocks[{"doc_ids": ["x"], "query": "a"}]'
    assert len(play([first, result(block(0)), second, FINISH]).called) == 1


def test_a_call_that_failed_upstream_may_be_tried_again() -> None:
    failed = result(error_code="upstream_unavailable", retryable=True)
    played = play([search("a"), failed, search("a"), result(block(0)), FINISH])
    assert len(played.called) == 2


def test_the_time_brake_leaves_time_for_the_answer() -> None:
    played = play([search("a"), returns(result(block(0)), elapsed_ms=80_000), says(FINISH, elapsed_ms=81_000)])
    assert ending(played) == ("answer", "finished")
    played = play([search("a"), returns(result(block(0)), elapsed_ms=90_000), says(FINISH, elapsed_ms=95_000)])
    assert ending(played) == ("answer", "brake_time")
    assert (played.asked[0].until_ms, played.asked[1].until_ms) == (90_000, 120_000)


def test_a_call_cut_off_by_the_clock_is_followed_by_the_final_turn() -> None:
    played = play([fails("time", elapsed_ms=90_000, heard="abc"), says(FINISH, elapsed_ms=100_000)])
    assert ending(played) == ("answer", "brake_time")


def test_a_tool_cut_off_by_the_clock_shows_nothing() -> None:
    played = play([search("a"), returns(None, elapsed_ms=90_000), says(FINISH, elapsed_ms=91_000)])
    assert ending(played) == ("answer", "brake_time")
    assert played.outcome.ledger.entries == ()


def test_no_time_left_for_the_final_turn_is_a_stated_end() -> None:
    played = play([search("a"), returns(result(block(0)), elapsed_ms=120_000)])
    assert ending(played) == ("broken", "brake_time")


# --- admission


def test_an_observation_enters_whole_or_not_at_all() -> None:
    limits = Limits(max_context_tokens=9_000, finalization_reserve_tokens=4_000)
    played = play([search("a"), result(block(0), filler=6_000), FINISH], limits=limits)
    assert ending(played) == ("answer", "context_budget_exceeded")
    told = envelope(observations(played.asked[1])[0])
    assert (told["harness_status"], told["payload"]) == ("context_budget_exceeded", None)
    assert "x" * 50 not in "".join(observations(played.asked[1]))
    assert played.outcome.ledger.entries == ()
    assert [one.code for one in played.outcome.limitations] == ["context_budget_exceeded"]
    assert [note.admitted for note in played.noted(ToolResulted) if isinstance(note, ToolResulted)] == [False]


def test_a_result_whose_bytes_alone_do_not_fit_is_refused_without_being_read() -> None:
    limits = Limits(max_context_tokens=9_000, finalization_reserve_tokens=4_000)
    played = play([search("年假"), result(block(0, "年假五天。"), filler=128 * 5_000), FINISH], limits=limits)
    assert ending(played) == ("answer", "context_budget_exceeded")
    assert played.measured == ()
    [told] = [note for note in played.noted(ToolResulted) if isinstance(note, ToolResulted)]
    assert (told.admitted, told.blocks) == (False, 1)
    assert f'"tokens": "≥ {told.tokens}"' in envelope(observations(played.asked[1])[0])["message"]
    assert played.outcome.ledger.entries == ()


def test_admission_is_decided_on_the_text_that_is_sent() -> None:
    played = play([search("a"), result(block(0)), FINISH])
    admission = played.noted(Admission)[0]
    assert isinstance(admission, Admission)
    assert admission.verdict.tokens == len(observations(played.asked[1])[0]) + 5
    assert played.asked[1].input_tokens == admission.used + admission.verdict.tokens


def test_an_admission_tells_the_reserve_that_decided_it() -> None:
    """At the provider's own rate: what the request for an answer takes is a part of it."""
    limits = Limits(max_context_tokens=9_000, finalization_reserve_tokens=4_000)
    counted = play([FINISH], limits=limits).asked[0].input_tokens
    told: list[Admission] = []
    for usage in (None, ChatUsage(input_tokens=3 * counted, output_tokens=20)):
        for filler in (0, 8_000):
            played = play([says(search("年假"), usage=usage), result(block(0), filler=filler), FINISH], limits=limits)
            told += [note for note in played.noted(Admission) if isinstance(note, Admission)]
    assert [isinstance(one.verdict, Refused) for one in told] == [False, True, False, True]
    assert [one.limit for one in told] == [9_000] * 4
    assert [one.reserve for one in told] == [4_000, 4_000, 4_000 + 2 * CLOSING_TOKENS, 4_000 + 2 * CLOSING_TOKENS]
    for one in told:
        room = one.limit - one.reserve - one.used
        assert one.verdict.room == room if isinstance(one.verdict, Refused) else one.verdict.tokens <= room


def test_a_result_is_measured_once_outside_the_loop() -> None:
    counted: list[str] = []

    def count_and_note(text: str) -> int:
        counted.append(text)
        return count(text)

    played = play([search("a"), result(block(0), filler=9_000), FINISH], count=count_and_note)
    assert [len(text) > 9_000 for text in played.measured] == [True]
    assert all(len(text) < 9_000 for text in counted)
    assert played.asked[1].input_tokens == sum(count(message.content) + 5 for message in played.asked[1].messages)


def test_an_observation_that_would_cost_the_answer_is_refused() -> None:
    limits = Limits(max_request_tokens=24_000, finalization_reserve_tokens=4_000)
    big = says(search("a"), usage=ChatUsage(input_tokens=9_000, output_tokens=200))
    played = play([big, result(block(0), filler=3_000), FINISH], limits=limits)
    assert ending(played) == ("answer", "request_budget_exceeded")


def test_a_question_that_leaves_no_room_ends_before_any_call() -> None:
    played = play([], task="问" * 10_000, limits=Limits(max_context_tokens=9_000))
    assert ending(played) == ("broken", "context_budget_exceeded")
    assert played.asked == ()


@pytest.mark.parametrize("a_token", [1, 3])
def test_the_next_call_is_anchored_on_real_usage_plus_what_was_added_as_the_provider_counts(a_token: int) -> None:
    opening = play([FINISH]).asked[0].input_tokens
    first = says(search("a"), usage=ChatUsage(input_tokens=a_token * opening, output_tokens=50))
    played = play([first, result(block(0)), FINISH])
    reply, observation = played.asked[1].messages[2:]
    added = len(reply.content) + 5 + len(observation.content) + 5
    assert played.asked[1].input_tokens == a_token * (opening + added)
    assert (played.asked[0].anchored, played.asked[1].anchored) == (False, True)


@pytest.mark.parametrize("protocol", get_args(ProtocolName))
def test_reasoning_that_goes_back_with_a_call_is_part_of_the_next_one(protocol: ProtocolName) -> None:
    call = FunctionCall(call_id="c", name="search_blocks", arguments='{"query": "年假"}')
    text, calls = (search("年假"), ()) if protocol == "react" else ("", (call,))

    def second(*, wanted: bool) -> AskModel:
        thought = says(text, reasoning="想" * 1_000, calls=calls, wants_reasoning=wanted)
        return play([thought, result(block(0)), FINISH], protocol=protocol).asked[1]

    back = second(wanted=True)
    assert any(message.reasoning for message in back.messages) == (protocol == "tools")
    more = sum(len(message.reasoning) for message in back.messages)
    assert back.input_tokens - second(wanted=False).input_tokens == more


@pytest.mark.parametrize("a_token", [1, 2, 3, 4])
@pytest.mark.parametrize("thought", [0, 9_000])
def test_a_provider_that_counts_more_and_a_model_that_thinks_in_secret_leave_the_run_its_answer(
    a_token: int, thought: int
) -> None:
    sent: list[int] = []

    def react(effect: AskModel | CallTool) -> Event:
        if isinstance(effect, CallTool):
            return returns(result(block(len(sent)), filler=2_000))
        ours = sum(len(message.content) + 5 for message in effect.messages)
        sent.append(a_token * ours)
        text = FINISH if effect.final else search(f"年假{len(sent)}")
        usage = ChatUsage(input_tokens=sent[-1], output_tokens=len(text) + thought)
        return says(text, usage=usage)

    limits = Limits(max_context_tokens=16_000, max_request_tokens=60_000, finalization_reserve_tokens=1_500)
    played = play(react, limits=limits)
    spent = played.outcome.spent
    assert ending(played)[0] == "answer"
    assert len(played.called) > 1
    assert spent.chat_input_tokens + spent.chat_output_tokens <= limits.max_request_tokens
    assert max(sent) <= limits.max_context_tokens


def test_a_prompt_that_did_not_grow_is_not_believed() -> None:
    usage = ChatUsage(input_tokens=4_096, output_tokens=20)
    played = play([says(search("a"), usage=usage), result(block(0)), says(FINISH, usage=usage)])
    assert [one.code for one in played.outcome.limitations] == ["provider_cut_prompt"]


# --- failures


def test_a_transient_fault_is_tried_once_more_and_both_attempts_are_paid() -> None:
    fault = fails("provider_overloaded", retryable=True, heard="半句")
    played = play([fault, FINISH])
    assert ending(played) == ("answer", "finished")
    assert [(ask.attempt, ask.wait_ms) for ask in played.asked] == [(1, 0), (2, 500)]
    assert played.noted(Retried) == [Retried(code="provider_overloaded", wait_ms=500)]
    sent = played.asked[0].input_tokens
    assert played.outcome.spent == Usage(
        chat_input_tokens=2 * sent, chat_output_tokens=2 + len(FINISH), model_calls=2, estimated=True
    )


@pytest.mark.parametrize(("left", "attempts"), [(0, 2), (-1, 1)])
def test_another_try_is_made_only_while_an_answer_can_be_paid_for_after_it(left: int, attempts: int) -> None:
    opening = play([FINISH]).asked[0].input_tokens
    reserve, reply = 1_000, 300
    limits = Limits(
        max_request_tokens=opening + 2 * (opening + reply) + reserve + left, finalization_reserve_tokens=reserve
    )
    played = play([fails("provider_overloaded", retryable=True), FINISH], limits=limits)
    assert len(played.asked) == attempts
    assert ending(played) == (("answer", "finished") if left == 0 else ("broken", "provider_overloaded"))


def test_the_provider_says_when_to_come_back() -> None:
    fault = fails("provider_rate_limited", retryable=True, retry_after_s=3.0)
    assert [ask.wait_ms for ask in play([fault, FINISH]).asked] == [0, 3_000]


def test_a_wait_beyond_the_run_is_not_begun() -> None:
    played = play([fails("provider_rate_limited", retryable=True, retry_after_s=100.0)])
    assert ending(played) == ("broken", "provider_rate_limited")


@pytest.mark.parametrize("code", ["provider_auth", "provider_quota", "provider_bad_request"])
def test_a_fault_that_another_try_cannot_help_ends_the_run(code: str) -> None:
    assert ending(play([fails(code)])) == ("broken", code)


def test_a_second_fault_ends_the_run_as_retryable() -> None:
    fault = fails("provider_timeout", retryable=True)
    played = play([fault, fault])
    assert isinstance(played.outcome.ending, Broken)
    assert (played.outcome.reason, played.outcome.ending.retryable) == ("provider_timeout", True)


def test_what_the_providers_window_could_not_take_is_no_evidence() -> None:
    too_long = fails("provider_context_too_long")
    played = play([search("a"), result(block(0)), search("b"), result(block(1), filler=99), too_long, FINISH])
    assert ending(played) == ("answer", "context_budget_exceeded")
    assert [entry.block_id for entry in played.outcome.ledger.entries] == [f"{DOC}.v1#0"]
    assert "x" * 99 not in "".join(observations(played.asked[-1]))


def test_what_was_told_as_read_and_was_not_is_told_again_as_refused() -> None:
    played = play(
        [search("a"), result(block(0)), search("b"), result(block(1)), fails("provider_context_too_long"), FINISH]
    )
    told = [one for one in played.noted(ToolResulted) if isinstance(one, ToolResulted)]
    assert [(one.turn, one.admitted, one.harness_status) for one in told] == [
        (1, True, "ok"),
        (2, True, "ok"),
        (2, False, "context_budget_exceeded"),
    ]
    assert (told[2].tool, told[2].tokens, told[2].blocks) == (told[1].tool, told[1].tokens, told[1].blocks)
    (limitation,) = played.outcome.limitations
    assert json.loads(limitation.text)["tokens"] == told[1].tokens


def test_what_takes_no_room_is_not_withdrawn_before_what_does() -> None:
    script = [search("a"), result(block(0), filler=999), search("b"), result(), fails("provider_context_too_long")]
    played = play([*script, FINISH])
    observed = [opened(text) for text in "\n\n".join(observations(played.asked[-1])).split("\n\n")]
    assert [one.harness_status for one in observed if one] == ["context_budget_exceeded", "ok"]
    assert played.outcome.ledger.entries == ()


def test_the_final_turn_too_withdraws_what_was_never_read() -> None:
    limits = Limits(max_tool_calls=1)
    script = [search("a"), result(block(0), filler=99), fails("provider_context_too_long"), "Action: Refuse[太长]"]
    played = play(script, limits=limits)
    assert ending(played) == ("refusal", "brake_count")
    assert played.outcome.ledger.entries == ()
    assert [one.code for one in played.outcome.limitations] == ["brake_count", "context_budget_exceeded"]


UNUSABLE = [search("again"), "", "Thought: hm", "Action: Finish[……]", f"—【来源：{DOC}.v1#0】", "## 结论\n\n答案："]


@pytest.mark.parametrize("reply", UNUSABLE)
def test_a_final_reply_that_is_no_answer_is_told_so_and_asked_for_once_more(reply: str) -> None:
    played = play([search("a"), result(block(0)), reply, FINISH], limits=Limits(max_tool_calls=1))
    assert ending(played) == ("answer", "brake_count")
    assert len(played.noted(Misspoken)) == 1
    told = envelope(observations(played.asked[-1])[-1].split("\n\n")[-1])
    assert told["harness_status"] in ("protocol_error", "tool_unavailable")
    assert json.loads(told["message"])["final"] is True
    assert [(one.turn, one.final) for one in played.noted(TurnStarted) if isinstance(one, TurnStarted)] == [
        (1, False),
        (2, True),
        (3, True),
    ]


@pytest.mark.parametrize("reply", UNUSABLE)
def test_two_final_replies_without_an_answer_end_the_run_deterministically(reply: str) -> None:
    played = play([search("a"), result(block(0)), reply, reply], limits=Limits(max_tool_calls=1))
    assert ending(played) == ("broken", "finalization_failed")
    assert len(played.noted(Misspoken)) == 2


def test_a_final_reply_is_not_asked_for_again_after_the_time_is_over() -> None:
    limits = Limits(max_tool_calls=1)
    late = says("", elapsed_ms=1_000 * limits.max_wall_seconds)
    played = play([search("a"), result(block(0)), late], limits=limits)
    assert ending(played) == ("broken", "finalization_failed")


def test_a_final_reply_is_not_asked_for_again_when_it_can_not_be_paid() -> None:
    limits = Limits(max_tool_calls=0, max_request_tokens=4_000)
    costly = says("", usage=ChatUsage(input_tokens=3_000, output_tokens=900))
    assert ending(play([costly], limits=limits)) == ("broken", "finalization_failed")


@pytest.mark.parametrize("reply", ["Action: Finish[……]", "Action: Clarify[？]", f"Finish[【来源：{DOC}.v1#0】]"])
def test_a_reply_that_says_nothing_is_no_ending(reply: str) -> None:
    played = play([reply, FINISH])
    assert ending(played) == ("answer", "finished")
    told = envelope(observations(played.asked[1])[0])
    assert json.loads(told["message"])["problem"] == "empty_answer"


def test_a_cut_final_answer_is_given_and_said_to_be_cut() -> None:
    cut = says("Action: Finish[五天，见第", finish_reason="length")
    played = play([search("a"), result(block(0)), cut], limits=Limits(max_tool_calls=1))
    assert ending(played) == ("answer", "brake_count")
    assert [one.code for one in played.outcome.limitations] == ["brake_count", "answer_cut"]


THOUGHT_UP = {
    "shown": says("", reasoning="想" * 99, finish_reason="length"),
    "in secret": says("", finish_reason="length"),
    "in the text": says("<think>" + "想" * 99, finish_reason="length"),
}


@pytest.mark.parametrize("thought", THOUGHT_UP.values(), ids=THOUGHT_UP)
@pytest.mark.parametrize("protocol", get_args(ProtocolName))
def test_a_model_that_thinks_to_its_limit_breaks_a_run_with_the_reason_and_what_to_raise(
    thought: Replied, protocol: ProtocolName
) -> None:
    first = (
        search("a")
        if protocol == "react"
        else says("", calls=(FunctionCall(call_id="c", name="search_blocks", arguments='{"query": "a"}'),))
    )
    planning = play([thought, thought], protocol=protocol)
    last = play([first, result(block(0)), thought, thought], limits=Limits(max_tool_calls=1), protocol=protocol)
    for played in (planning, last):
        assert ending(played) == ("broken", "reasoning_cut")
        for wording in WORDINGS:
            text = finish(played.outcome, wording=wording).text
            assert "finalization_reserve_tokens" in text
            assert "reasoning" in text


def test_a_reply_that_is_cut_twice_breaks_a_run_with_the_reason() -> None:
    cut = says('Action: search_blocks[{"query": "' + "年" * 99, finish_reason="length")
    assert ending(play([cut, cut])) == ("broken", "reply_cut")


def test_an_answer_after_a_reply_that_was_all_reasoning_is_an_answer() -> None:
    played = play([THOUGHT_UP["in secret"], FINISH])
    assert ending(played) == ("answer", "finished")
    assert "reasoning_cut" in played.asked[1].messages[-1].content


# --- usage


def test_chat_and_embedding_tokens_are_kept_apart() -> None:
    usage = ChatUsage(input_tokens=100, output_tokens=10, reasoning_tokens=4)
    more = ChatUsage(input_tokens=300, output_tokens=20)
    played = play([says(search("a"), usage=usage), result(block(0), embedding_tokens=7), says(FINISH, usage=more)])
    assert played.outcome.spent == Usage(
        chat_input_tokens=400,
        chat_output_tokens=30,
        reasoning_tokens=4,
        embedding_tokens=7,
        model_calls=2,
        tool_calls=1,
        estimated=False,
    )


def test_reasoning_that_the_provider_gives_no_figures_for_is_estimated() -> None:
    played = play([says(FINISH, reasoning="想" * 50_000)])
    spent = played.outcome.spent
    assert (spent.reasoning_tokens, spent.chat_output_tokens) == (50_000, 50_000 + len(FINISH))
    assert spent.estimated


def test_without_a_model_no_chat_token_is_counted() -> None:
    played = play([says(search("a"), metered=False), result(block(0)), says(FINISH, metered=False)])
    assert (played.outcome.spent.model_calls, played.outcome.spent.chat_input_tokens) == (0, 0)


def test_messages_alternate_between_user_and_assistant() -> None:
    played = play([search("a"), result(block(0)), FINISH], limits=Limits(max_tool_calls=1))
    assert [message.role for message in played.asked[-1].messages] == ["system", "user", "assistant", "user"]
