"""What is asked of each provider, and what is no longer asked of one that refused it."""

from typing import Any

import pytest
from msgspec import structs

from shared.complaints import Complaint
from shared.llm.dialect import Dialect, dialect_after, dialect_for
from shared.llm.openai import profile_of, request_body
from shared.llm.port import ChatRequest, Function, FunctionCall, Message
from shared.settings import ChatSettings

CALL = FunctionCall(call_id="call_1", name="search_blocks", arguments='{"query":"年假"}')
MESSAGES = (
    Message(role="user", content="年假有几天？"),
    Message(role="assistant", content="先查。", call=CALL, reasoning="要查制度"),
    Message(role="tool", content="{}", call_id="call_1"),
)
REQUEST = ChatRequest(
    messages=MESSAGES, max_output_tokens=50, functions=(Function(name="f", description="d", schema={}),)
)


def settings(**more: Any) -> ChatSettings:
    values: dict[str, Any] = {"base_url": "http://x", "model": "m", **more}
    return ChatSettings(**values)


@pytest.mark.parametrize(
    ("host", "quiet"),
    [
        ("api.openai.com", {"reasoning_effort": "none"}),
        ("x.openai.azure.com", {"reasoning_effort": "none"}),
        ("api.deepseek.com", {"thinking": {"type": "disabled"}}),
        ("dashscope.aliyuncs.com", {"enable_thinking": False}),
        ("dashscope-intl.aliyuncs.com", {"enable_thinking": False}),
        ("w1.cn-beijing.maas.aliyuncs.com", {"enable_thinking": False}),
        ("api.siliconflow.cn", {"enable_thinking": False}),
        ("127.0.0.1:11434", {"reasoning_effort": "none"}),
        ("gpu-box:8000", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("notopenai.com", {"chat_template_kwargs": {"enable_thinking": False}}),
    ],
)
def test_hidden_reasoning_is_off_in_the_form_of_each_provider(host: str, quiet: dict[str, Any]) -> None:
    dialect = dialect_for(settings(), host=host)
    body = request_body(REQUEST, settings(), dialect)
    assert {name: value for name, value in body.items() if name in quiet} == quiet
    assert dialect_for(settings(reasoning="on"), host=host).quiet == ()


@pytest.mark.parametrize(
    "own",
    [
        {"reasoning_effort": "high"},
        {"enable_thinking": True},
        {"thinking_budget": 500},
        {"thinking": {"type": "enabled"}},
    ],
)
def test_what_the_owner_says_of_reasoning_is_left_alone(own: dict[str, Any]) -> None:
    assert dialect_for(settings(extra_body=own), host="api.deepseek.com").quiet == ()


def refused(dialect: Dialect | None, message: str, *, param: str = "", status: int = 400) -> Dialect | None:
    assert dialect is not None
    return dialect_after(dialect, Complaint(status=status, message=message, param=param))


def test_a_model_that_can_not_be_silent_is_asked_to_think_as_little_as_it_can() -> None:
    dialect: Dialect | None = dialect_for(settings(), host="api.openai.com")
    efforts: list[Any] = []
    while dialect is not None and dialect.quiet:
        efforts.append(dialect.quiet[0]["reasoning_effort"])
        message = f"Unsupported value: 'reasoning_effort' does not support '{efforts[-1]}' with this model."
        dialect = refused(dialect, message, param="reasoning_effort")
    assert efforts == ["none", "minimal", "low"]
    assert "reasoning_effort" not in request_body(REQUEST, settings(), dialect or Dialect())


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("api.siliconflow.cn", "Value error, current model does not support parameter `enable_thinking`."),
        ("dashscope.aliyuncs.com", "The value of the enable_thinking parameter is restricted to True."),
        ("gpu-box:8000", "Unrecognized request argument supplied: chat_template_kwargs"),
        ("gpu-box:8000", "('body', 'chat_template_kwargs'): Extra inputs are not permitted"),
    ],
)
def test_a_switch_that_a_model_does_not_have_is_not_sent_again(host: str, message: str) -> None:
    after = refused(dialect_for(settings(), host=host), message)
    assert after is not None
    assert after.quiet == ()


@pytest.mark.parametrize(
    ("message", "param", "lost", "gained"),
    [
        ("Unrecognized request argument supplied: stream_options", "stream_options", {"stream_options"}, set[str]()),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens", {"max_tokens"}, {"max_completion_tokens"}),
        ("Unsupported parameter: 'parallel_tool_calls' is not supported with this model.", "parallel_tool_calls", {"parallel_tool_calls"}, set[str]()),
        ("Unsupported value: 'temperature' does not support 0.0 with this model.", "temperature", {"temperature"}, set[str]()),
    ],
)  # fmt: skip
def test_what_is_refused_is_left_out(message: str, param: str, lost: set[str], gained: set[str]) -> None:
    dialect = Dialect()
    after = refused(dialect, message, param=param)
    assert after is not None
    before, then = (set(request_body(REQUEST, settings(), one)) for one in (dialect, after))
    assert (before - then, then - before) == (lost, gained)


@pytest.mark.parametrize(
    ("message", "status"),
    [
        (
            "'max_tokens' or 'max_completion_tokens' is too large. This model's maximum context length is 4096 tokens",
            400,
        ),
        ("The model is overloaded; max_completion_tokens can't help", 503),
        ("I was thinking about your request and found it invalid", 400),
    ],
)
def test_a_complaint_about_something_else_changes_nothing(message: str, status: int) -> None:
    dialect = dialect_for(settings(), host="dashscope.aliyuncs.com")
    assert refused(dialect, message, status=status) is None


def sent_reasoning(dialect: Dialect, *messages: Message) -> list[Any]:
    request = ChatRequest(messages=messages, max_output_tokens=50)
    return [message.get("reasoning_content") for message in request_body(request, settings(), dialect)["messages"]]


def test_deepseek_gets_the_reasoning_of_a_call_back_even_where_there_was_none() -> None:
    dialect = dialect_for(settings(), host="api.deepseek.com")
    assert dialect.wants_reasoning
    assert dialect_for(settings(model="deepseek-ai/DeepSeek-V4"), host="api.siliconflow.cn").wants_reasoning
    assert sent_reasoning(dialect, *MESSAGES) == [None, "要查制度", None]
    silent = Message(role="assistant", content="", call=CALL)
    assert sent_reasoning(dialect, silent) == [""]


def test_a_provider_that_turns_out_to_want_reasoning_back_gets_it() -> None:
    message = "The reasoning_content in the thinking mode must be passed back to the API."
    after = refused(Dialect(quiet=({"thinking": {"type": "disabled"}},)), message)
    assert after == Dialect(quiet=({"thinking": {"type": "disabled"}},), wants_reasoning=True)
    assert not dialect_for(settings(), host="api.openai.com").wants_reasoning


def test_what_is_sent_the_same_every_time_has_one_name_and_one_hash() -> None:
    asked = settings(base_url="https://api.deepseek.com/v1", api_key="钥匙", extra_body={"user": "财务部"})
    profile = profile_of(asked)
    assert profile.name == "temperature 0.0, reasoning off, extra_body user"
    assert profile_of(structs.replace(asked, api_key="另一把")) == profile
    others = [
        structs.replace(asked, temperature=0.7),
        structs.replace(asked, reasoning="on"),
        structs.replace(asked, extra_body={"user": "人事部"}),
        structs.replace(asked, base_url="https://api.deepseek.com/beta"),
    ]
    assert len({profile.sha256, *(profile_of(one).sha256 for one in others)}) == 5
