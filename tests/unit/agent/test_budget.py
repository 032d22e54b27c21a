"""Budgets and brakes, one decision each."""

import pytest

from api.agent.brakes import due, without_gain
from api.agent.budget import (
    CLOSING_TOKENS,
    MESSAGE_TOKENS,
    Admitted,
    Refused,
    admit,
    afford_final,
    afford_turn,
    asked_output,
    reply_room,
    within_window,
)
from api.agent.decisions import ToolAction
from api.agent.metering import Context, Heard, Rates, Sent, anchored, believed, charged, cut_short, grown, learned
from api.agent.observation import envelope
from api.agent.prompting import BundleWording
from api.agent.state import State
from shared.llm.port import ChatUsage, FunctionCall
from shared.text.tokens import count_tokens
from shared.types.runs import Limits, Usage
from tests.unit.agent.playing import PLAIN, count, start
from tests.unit.agent.texts import WORDINGS

LIMITS = Limits(max_context_tokens=10_000, max_request_tokens=30_000, finalization_reserve_tokens=4_000)
RATES, HEARD = Rates(), Heard(tokens=40)


def context(tokens: int) -> Context:
    return Context(anchored=tokens, added=0, real=True)


@pytest.mark.parametrize(("tokens", "fits"), [(5_000, True), (5_001, False)])
def test_an_observation_may_fill_the_context_up_to_the_reserve(tokens: int, fits: bool) -> None:
    verdict = admit(tokens, context=context(1_000), spent=Usage(), limits=LIMITS, rates=RATES)
    expected = Refused(code="context_budget_exceeded", tokens=tokens, room=5_000, limit=10_000)
    assert verdict == (Admitted(tokens=tokens) if fits else expected)


def test_an_observation_may_not_cost_the_run_its_answer() -> None:
    spent = Usage(chat_input_tokens=20_000, chat_output_tokens=4_000)
    verdict = admit(1_001, context=context(1_000), spent=spent, limits=LIMITS, rates=RATES)
    assert verdict == Refused(code="request_budget_exceeded", tokens=1_001, room=1_000, limit=30_000)


def test_room_is_never_negative() -> None:
    verdict = admit(1, context=context(20_000), spent=Usage(), limits=LIMITS, rates=RATES)
    assert isinstance(verdict, Refused)
    assert verdict.room == 0


def test_a_turn_must_leave_the_final_call_affordable() -> None:
    reply = reply_room(LIMITS)
    needed = 2 * (1_000 + reply) + 4_000
    enough = Usage(chat_input_tokens=30_000 - needed)
    assert isinstance(afford_turn(context=context(1_000), spent=enough, limits=LIMITS, rates=RATES), Admitted)
    too_little = Usage(chat_input_tokens=30_000 - needed + 1)
    assert isinstance(afford_turn(context=context(1_000), spent=too_little, limits=LIMITS, rates=RATES), Refused)
    assert isinstance(afford_final(context=context(1_000), spent=too_little, limits=LIMITS, rates=RATES), Admitted)


def sent(context: Context, *, asked: int = 100, rates: Rates = RATES) -> Sent:
    return Sent(context=context, tokens=context.tokens(rates), counted=context.anchored + context.added, asked=asked)


def usage(input_tokens: int, output_tokens: int = 40, reasoning_tokens: int = 0) -> ChatUsage:
    return ChatUsage(input_tokens=input_tokens, output_tokens=output_tokens, reasoning_tokens=reasoning_tokens)


def booked(said: ChatUsage | None, heard: Heard = HEARD, *, rates: Rates = RATES) -> Usage:
    call = sent(Context(added=900), rates=rates)
    return charged(Usage(), call, heard, believed(said, call, heard), rates)


def after(*calls: tuple[Context, ChatUsage | None], heard: int = 40) -> Rates:
    """What these calls show."""
    rates = RATES
    for context, said in calls:
        call = sent(context, rates=rates)
        told = believed(said, call, Heard(tokens=heard))
        rates = learned(rates, call, Heard(tokens=heard), told, whole=True)
    return rates


def test_what_was_sent_is_known_by_the_providers_count_and_what_came_since_by_ours() -> None:
    context = grown(anchored(Context(added=900), 1_000), 50)
    assert (context.tokens(RATES), context.real) == (1_050, True)


def test_without_a_count_of_the_providers_what_it_counted_before_stands() -> None:
    assert anchored(Context(added=900), None) == Context(added=900)
    assert anchored(grown(context(4_000), 900), None) == Context(anchored=4_000, added=900, real=False)


@pytest.mark.parametrize(
    ("before", "told", "cut"),
    [
        (Context(added=9_000), 4_000, False),  # another tokenizer
        (Context(added=9_000), 2_048, True),
        (grown(context(4_000), 9_000), 8_000, False),
        (grown(context(4_000), 9_000), 4_096, True),
        (grown(context(4_000), 0), 4_000, False),
        (grown(context(4_000), 9_000), 0, False),
    ],
)
def test_a_prompt_that_was_cut_is_recognised(before: Context, told: int, cut: bool) -> None:
    assert cut_short(before, before.anchored + before.added, usage(told)) == cut


def test_a_missing_usage_is_estimated_and_says_so() -> None:
    assert booked(None) == Usage(chat_input_tokens=900, chat_output_tokens=40, model_calls=1, estimated=True)


def test_the_providers_own_figures_are_taken_as_they_are() -> None:
    assert booked(usage(1_000, 50, 30)) == Usage(
        chat_input_tokens=1_000, chat_output_tokens=50, reasoning_tokens=30, model_calls=1
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (usage(3_600, 2_000), (3_600, 2_000, False)),  # a tokenizer of characters; reasoning
        (usage(10**9, 50), (900, 50, True)),
        (usage(1_000, 10**9), (1_000, 40, True)),
        (usage(0, 0), (900, 40, True)),
        (usage(1_000, 0), (1_000, 40, True)),
        (usage(-5, -5), (900, 40, True)),
    ],
)
def test_a_count_that_can_not_be_is_estimated(said: ChatUsage, expected: tuple[int, int, bool]) -> None:
    spent = booked(said)
    assert (spent.chat_input_tokens, spent.chat_output_tokens, spent.estimated) == expected


def test_hidden_reasoning_that_the_provider_does_not_count_apart_is_estimated() -> None:
    spent = booked(usage(1_000, 50), Heard(tokens=60, reasoning=45))
    assert (spent.chat_output_tokens, spent.reasoning_tokens) == (50, 45)


def test_what_a_provider_counts_above_us_is_expected_of_the_next_call_and_of_the_request_for_an_answer() -> None:
    rates = after((Context(added=1_000), usage(3_000)))
    assert grown(anchored(Context(added=1_000), 3_000), 200).tokens(rates) == 3_600
    limits = Limits(max_context_tokens=20_000, max_request_tokens=100_000, finalization_reserve_tokens=4_000)
    room = 20_000 - 3_000 - (4_000 + 2 * CLOSING_TOKENS)
    verdicts = [
        admit(tokens, context=context(3_000), spent=Usage(), limits=limits, rates=rates)
        for tokens in (room // 3, room // 3 + 1)
    ]
    assert list(map(type, verdicts)) == [Admitted, Refused]


def test_a_provider_that_counts_less_than_we_is_not_trusted_to_go_on_so() -> None:
    assert after((Context(added=1_000), usage(500))).scaled(100) == 100


def test_the_largest_call_tells_what_a_token_costs_and_the_rest_is_of_every_call() -> None:
    rates = after((Context(added=300), usage(1_300)), (Context(added=9_000), usage(10_000)))
    assert Context(added=300).tokens(rates) >= 1_300
    assert grown(context(10_000), 900).tokens(rates) <= 11_000


def test_what_was_added_may_cost_more_than_what_stood_there() -> None:
    rates = after((Context(added=3_000), usage(3_000)), (grown(context(3_000), 3_000), usage(9_000)))
    assert grown(context(9_000), 1_000).tokens(rates) == 11_000


def test_what_a_model_thinks_beyond_its_allowance_is_expected_of_every_call() -> None:
    rates = after((Context(added=1_000), usage(1_000, 9_100)))
    spent = Usage(chat_input_tokens=30_000 - (1_000 + 400 + 9_100 - 40))
    over = Usage(chat_input_tokens=spent.chat_input_tokens + 1)
    verdicts = [afford_final(context=context(1_000), spent=one, limits=LIMITS, rates=rates) for one in (spent, over)]
    assert list(map(type, verdicts)) == [Admitted, Refused]


def test_what_a_model_thinks_beyond_its_allowance_is_kept_back_for_the_answer_too() -> None:
    rates, reply = Rates(beyond=2_000, kept=500), reply_room(LIMITS)

    def turn(spent: int) -> object:
        return type(
            afford_turn(context=context(1_000), spent=Usage(chat_input_tokens=spent), limits=LIMITS, rates=rates)
        )

    def admission(spent: int) -> object:
        usage = Usage(chat_input_tokens=spent)
        return type(admit(100, context=context(1_000), spent=usage, limits=LIMITS, rates=rates))

    left = 30_000 - 2 * (1_000 + reply) - 500 - 4_000 - 2 * 2_000
    assert (turn(left), turn(left + 1)) == (Admitted, Refused)
    left = 30_000 - 100 - 1_000 - 4_000 - 2_000
    assert (admission(left), admission(left + 1)) == (Admitted, Refused)


def test_reasoning_that_goes_back_and_is_longer_than_a_reply_is_expected_of_the_next_reply_too() -> None:
    state = State(start(limits=LIMITS, protocol="tools"), wording=PLAIN, count=count)
    call = FunctionCall(call_id="c", name="search_blocks", arguments="{}")
    action = ToolAction(thought="", tool="search_blocks", arguments={}, kept="", call=call)
    state.heard(action, reasoning="想" * 9_000)
    assert state.rates.kept == state.talk.counted - reply_room(LIMITS) > 5_000


def test_a_reply_without_figures_of_a_model_that_thinks_in_secret_is_taken_to_have_thought_as_much() -> None:
    rates = after((Context(added=1_000), usage(1_000, 9_100)))
    assert booked(None, rates=rates).chat_output_tokens == 40 + 9_100 - 4 * 40
    assert booked(None, Heard(tokens=0, begun=False), rates=rates).chat_output_tokens == 0


def test_a_last_call_gets_what_output_is_left_for_it() -> None:
    spent = Usage(chat_input_tokens=28_000)
    assert asked_output(context=context(1_000), spent=Usage(), limits=LIMITS, rates=RATES) == reply_room(LIMITS)
    assert asked_output(context=context(1_000), spent=spent, limits=LIMITS, rates=RATES) == 1_000


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
