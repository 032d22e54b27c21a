"""Which optional parts of a request a provider takes: guessed from its address and model, corrected by what it refuses. Pure.

Source: facts of 2026-11 about OpenAI, DeepSeek, DashScope, SiliconFlow, Ollama, vLLM, llama.cpp.
"""

import re
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from shared.complaints import Complaint, classify
from shared.settings import ChatSettings

Body: TypeAlias = dict[str, Any]


class Dialect(Struct, frozen=True, kw_only=True):
    """What a provider refuses once is not sent again.

    `quiet`: forms that switch hidden reasoning off; the first is sent, the others come when it is refused.
    `wants_reasoning`: back, in every message that holds a call.
    """

    usage_option: bool = True  # stream_options
    token_limit: str = "max_tokens"  # OpenAI's newer models want max_completion_tokens
    temperature: bool = True
    one_call: bool = True  # parallel_tool_calls
    quiet: tuple[Body, ...] = ()
    wants_reasoning: bool = False


_EFFORTS: tuple[Body, ...] = tuple({"reasoning_effort": effort} for effort in ("none", "minimal", "low"))
_SWITCH: tuple[Body, ...] = ({"enable_thinking": False},)
_TEMPLATE: tuple[Body, ...] = ({"chat_template_kwargs": {"enable_thinking": False}},)
_QUIET: tuple[tuple[str, tuple[Body, ...]], ...] = (  # by host; the model may be anyone's
    (r"(?:^|\.)openai\.com$|(?:^|\.)openai\.azure\.com$", _EFFORTS),
    (r"(?:^|\.)deepseek\.com$", ({"thinking": {"type": "disabled"}},)),
    (r"(?:^|\.)aliyuncs\.com$|(?:^|\.)siliconflow\.(?:cn|com)$", _SWITCH),
    (r":11434$", _EFFORTS[:1]),  # Ollama
)
_REASONING_FIELDS = frozenset(
    {"reasoning", "reasoning_effort", "thinking", "enable_thinking", "thinking_budget", "think", "chat_template_kwargs"}
)
_UNTAKEN = re.compile(r"support|unrecogni[sz]ed|unknown|unexpected|not (?:permitted|allowed)|invalid|restricted|extra", re.IGNORECASE)  # fmt: skip


def dialect_for(settings: ChatSettings, *, host: str) -> Dialect:
    """The first guess. `host`: of base_url, with its port if it has one. What `extra_body` says of reasoning is left alone."""
    own = settings.extra_body.keys()
    return Dialect(
        token_limit="max_completion_tokens" if "max_completion_tokens" in own else "max_tokens",
        quiet=() if settings.reasoning == "on" or _REASONING_FIELDS & own else _quiet(host),
        wants_reasoning="deepseek" in f"{host} {settings.model}".lower(),
    )


def dialect_after(dialect: Dialect, complaint: Complaint) -> Dialect | None:
    """The dialect without the part that the complaint is about; None = it is about something else, or that part wasn't sent."""
    if complaint.status not in (400, 422) or classify(complaint) != "provider_bad_request":
        return None
    words = complaint.message.lower()
    names = f"{complaint.param} {words}"
    if not dialect.wants_reasoning and "reasoning_content" in names and "passed back" in names:
        return replace(dialect, wants_reasoning=True)
    if dialect.usage_option and ("stream_options" in names or "include_usage" in names):
        return replace(dialect, usage_option=False)
    if dialect.token_limit == "max_tokens" and "max_completion_tokens" in names:
        return replace(dialect, token_limit="max_completion_tokens")
    if dialect.one_call and "parallel_tool_calls" in names:
        return replace(dialect, one_call=False)
    if dialect.quiet and any(field in names for field in dialect.quiet[0]) and _UNTAKEN.search(words):
        return replace(dialect, quiet=dialect.quiet[1:])
    if dialect.temperature and (complaint.param == "temperature" or ("temperature" in words and "support" in words)):
        return replace(dialect, temperature=False)
    return None


def _quiet(host: str) -> tuple[Body, ...]:
    return next((forms for pattern, forms in _QUIET if re.search(pattern, host.lower())), _TEMPLATE)
