"""Budgets and brakes, one decision each."""

import pytest

from api.agent.brakes import due, without_gain
from api.agent.budget import (
    CLOSING_TOKENS,
    MESSAGE_TOKENS,
    Admitted,
    Context,
    Refused,
    admit,
    afford_final,
    afford_turn,
    anchored,
    charged,
    grown,
    reply_room,
    within_window,
)
from api.agent.observation import envelope
from api.agent.prompting import BundleWording
from shared.llm.port import ChatUsage
from shared.text.tokens import count_tokens
from shared.types.runs import Limits, Usage
from tests.unit.agent.texts import WORDINGS

LIMITS = Limits(max_context_tokens=10_000, max_request_tokens=30_000, finalization_reserve_tokens=4_000)


def context(tokens: int) -> Context:
    return Context(anchored=tokens, added=0, real=True)


@pytest.mark.parametrize(("tokens", "fits"), [(5_000, True), (5_001, False)])
def test_an_observation_may_fill_the_context_up_to_the_reserve(tokens: int, fits: bool) -> None:
    verdict = admit(tokens, context=context(1_000), spent=Usage(), limits=LIMITS)
    expected = Refused(code="context_budget_exceeded", tokens=tokens, room=5_000, limit=10_000)
    assert verdict == (Admitted(tokens=tokens) if fits else expected)


def test_an_observation_may_not_cost_the_run_its_answer() -> None:
    spent = Usage(chat_input_tokens=20_000, chat_output_tokens=4_000)
    verdict = admit(1_001, context=context(1_000), spent=spent, limits=LIMITS)
    assert verdict == Refused(code="request_budget_exceeded", tokens=1_001, room=1_000, limit=30_000)


def test_room_is_never_negative() -> None:
    verdict = admit(1, context=context(20_000), spent=Usage(), limits=LIMITS)
    assert isinstance(verdict, Refused)
    assert verdict.room == 0


def test_a_turn_must_leave_the_final_call_affordable() -> None:
    reply = reply_room(LIMITS)
    needed = 2 * (1_000 + reply) + 4_000
    enough = Usage(chat_input_tokens=30_000 - needed)
    assert isinstance(afford_turn(context=context(1_000), spent=enough, limits=LIMITS), Admitted)
    too_little = Usage(chat_input_tokens=30_000 - needed + 1)
    assert isinstance(afford_turn(context=context(1_000), spent=too_little, limits=LIMITS), Refused)
    assert isinstance(afford_final(context=context(1_000), spent=too_little, limits=LIMITS), Admitted)


def test_what_was_sent_is_known_by_the_providers_count_and_what_came_since_by_ours() -> None:
    before = grown(Context(), 900)
    after = grown(anchored(before, ChatUsage(input_tokens=1_000, output_tokens=5)), 50)
    assert (after.tokens, after.real) == (1_050, True)


@pytest.mark.parametrize(
    ("before", "told", "believed"),
    [
        (grown(Context(), 9_000), 4_000, True),  # another tokenizer
        (grown(Context(), 9_000), 2_048, False),
        (grown(context(4_000), 9_000), 8_000, True),
        (grown(context(4_000), 9_000), 4_096, False),
        (grown(context(4_000), 0), 4_000, True),
        (grown(context(4_000), 9_000), 0, False),
    ],
)
def test_a_prompt_that_was_cut_is_not_believed(before: Context, told: int, believed: bool) -> None:
    after = anchored(before, ChatUsage(input_tokens=told, output_tokens=5))
    assert (after.real, after.tokens) == (believed, told if believed else before.tokens)


def test_without_a_count_of_the_providers_ours_stays() -> None:
    assert anchored(grown(Context(), 900), None) == Context(anchored=900, added=0, real=False)


def test_a_missing_usage_is_estimated_and_says_so() -> None:
    spent = charged(Usage(), sent_tokens=900, reply_tokens=40, asked_tokens=100, usage=None)
    assert spent == Usage(chat_input_tokens=900, chat_output_tokens=40, model_calls=1, estimated=True)


def test_the_providers_own_figures_are_taken_as_they_are() -> None:
    usage = ChatUsage(input_tokens=1_000, output_tokens=50, reasoning_tokens=30)
    spent = charged(Usage(), sent_tokens=900, reply_tokens=20, asked_tokens=100, usage=usage)
    assert spent == Usage(chat_input_tokens=1_000, chat_output_tokens=50, reasoning_tokens=30, model_calls=1)


@pytest.mark.parametrize(
    ("usage", "booked"),
    [
        (
            ChatUsage(input_tokens=3_600, output_tokens=2_000),
            (3_600, 2_000, False),
        ),  # a tokenizer of characters; reasoning
        (ChatUsage(input_tokens=10**9, output_tokens=50), (900, 50, True)),
        (ChatUsage(input_tokens=1_000, output_tokens=10**9), (1_000, 40, True)),
        (ChatUsage(input_tokens=0, output_tokens=0), (900, 40, True)),
        (ChatUsage(input_tokens=1_000, output_tokens=0), (1_000, 40, True)),
        (ChatUsage(input_tokens=-5, output_tokens=-5), (900, 40, True)),
    ],
)
def test_a_count_that_can_not_be_is_estimated(usage: ChatUsage, booked: tuple[int, int, bool]) -> None:
    spent = charged(Usage(), sent_tokens=900, reply_tokens=40, asked_tokens=100, usage=usage)
    assert (spent.chat_input_tokens, spent.chat_output_tokens, spent.estimated) == booked


def test_hidden_reasoning_that_the_provider_does_not_count_apart_is_estimated() -> None:
    usage = ChatUsage(input_tokens=1_000, output_tokens=50)
    spent = charged(Usage(), sent_tokens=900, reply_tokens=60, asked_tokens=100, usage=usage, reasoning_tokens=45)
    assert (spent.chat_output_tokens, spent.reasoning_tokens) == (50, 45)


@pytest.mark.parametrize(
    ("window", "context_tokens", "reserve"),
    [(None, 100_000, 4_000), (131_072, 100_000, 4_000), (32_768, 29_468, 4_000), (8_192, 6_844, 2_048), (100, 36, 764)],
)
def test_a_window_leaves_room_for_the_answer_and_a_small_one_for_the_question(
    window: int | None, context_tokens: int, reserve: int
) -> None:
    limits = within_window(Limits(), window)
    assert (limits.max_context_tokens, limits.finalization_reserve_tokens) == (context_tokens, reserve)


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.lang)
def test_a_refused_observation_and_the_final_request_fit_into_what_is_kept_for_them(wording: BundleWording) -> None:
    values = {"tokens": 10**9, "limit": 10**9, "room": 10**9}
    message = wording.render("observation", code="request_budget_exceeded", **values)
    refused = envelope("request_budget_exceeded", tool="list_documents", message=message)
    for protocol in ("react", "tools"):
        final = wording.render("finalize", closed="context_budget_exceeded", blocks=9, protocol=protocol)
        assert count_tokens(refused) + count_tokens(final) + 2 * MESSAGE_TOKENS <= CLOSING_TOKENS


@pytest.mark.parametrize(
    ("shown", "known", "streak"),
    [("abcd", "abc", 2), ("abcdefghij", "abcdefg", 0), ("abcdefghij", "abcdefgh", 2), ("", "", 1), ("a", "", 0)],
)
def test_gain_is_judged_by_the_share_of_known_blocks(shown: str, known: str, streak: int) -> None:
    assert without_gain(1, shown=set(shown), known=set(known)) == streak


@pytest.mark.parametrize(
    ("tool_calls", "no_gain", "elapsed_ms", "brake"),
    [
        (7, 1, 0, None),
        (8, 0, 0, "brake_count"),
        (0, 2, 0, "brake_gain"),
        (0, 0, 90_000, "brake_time"),
        (0, 0, 89_999, None),
    ],
)
def test_a_brake_holds_from_its_limit_on(tool_calls: int, no_gain: int, elapsed_ms: int, brake: str | None) -> None:
    assert due(tool_calls=tool_calls, no_gain=no_gain, elapsed_ms=elapsed_ms, limits=Limits()) == brake
