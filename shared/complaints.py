"""What a provider's refusal says: its shape becomes a Complaint, and that one of our codes. Pure.

Facts of 2026-11 about OpenAI, DeepSeek, DashScope, SiliconFlow, vLLM, llama.cpp, Ollama. They disagree about status codes, so a
`code` is looked at before the status: a 429 may mean "out of money".
"""

import re
from typing import Any, cast

import msgspec
from msgspec import Struct

from shared.errors import UpstreamCode

_CODES: dict[str, UpstreamCode] = {
    "context_length_exceeded": "provider_context_too_long",
    "exceed_context_size_error": "provider_context_too_long",
    "insufficient_quota": "provider_quota",
    "billing_hard_limit_reached": "provider_quota",
    "billing_not_active": "provider_quota",
    "insufficient_balance": "provider_quota",
    "arrearage": "provider_quota",
    "throttling.allocationquota": "provider_quota",
    "content_filter": "provider_content_filtered",
    "content_policy_violation": "provider_content_filtered",
    "data_inspection_failed": "provider_content_filtered",
    "datainspectionfailed": "provider_content_filtered",
    "invalid_api_key": "provider_auth",
    "invalidapikey": "provider_auth",
    "rate_limit_exceeded": "provider_rate_limited",
    "throttling": "provider_rate_limited",
    "throttling.ratequota": "provider_rate_limited",
    "server_overloaded": "provider_overloaded",
    "engine_overloaded": "provider_overloaded",
}
_STATUSES: dict[int, UpstreamCode] = {
    401: "provider_auth",
    402: "provider_quota",
    403: "provider_auth",
    408: "provider_timeout",
    409: "provider_overloaded",
    413: "provider_context_too_long",
    425: "provider_overloaded",
    429: "provider_rate_limited",
    503: "provider_overloaded",
    504: "provider_timeout",
    529: "provider_overloaded",
}
# Told in words only by DeepSeek, DashScope, vLLM and older llama.cpp.
_TOO_LONG = re.compile(
    r"maximum context length|context[ _](?:length|size|window)|range of input length|input length should be"
    r"|prompt is too long|input is too long|too many (?:input )?tokens|input tokens exceed|max_seq_len|max_total_tokens|exceeds? the (?:model's )?maximum (?:number of )?tokens",
    re.IGNORECASE,
)
_WINDOWS = (
    r"(?:maximum context length (?:is|of)|maximum (?:input )?length (?:is|of)|configured limit of|context (?:length|size|window) (?:is|of))\D{0,8}(\d[\d,]*)",
    r"input length should be \[\d+, ?(\d+)\]",  # DashScope
    r"(?:max_seq_len|max_total_tokens|max_model_len)\D{0,8}(\d+)",  # SiliconFlow
)
_NO_TOOLS = re.compile(
    r"does not support (?:tools|function call)|tool choice requires|tool[- ]call-parser|function call(?:ing)? is not supported"
    r"|(?:tools|functions?) (?:is|are) not supported|only supported with --jinja|tools param requires",
    re.IGNORECASE,
)
_OUT_OF_MONEY = re.compile(
    r"insufficient.{0,20}(?:quota|balance)|(?:quota|balance) is insufficient|exceeded your current quota|arrear|overdue|余额|欠费",
    re.IGNORECASE,
)
_ANY_JSON = msgspec.json.Decoder()


class Complaint(Struct, frozen=True, kw_only=True):
    """What a provider said, whatever shape it said it in; "" and None = it didn't."""

    status: int | None  # of HTTP, or the integer a provider put into `code`
    code: str = ""
    message: str = ""
    param: str = ""
    window_tokens: int | None = None  # told in a field of its own


def classify(complaint: Complaint) -> UpstreamCode:
    """Code first, then words where providers have no code, then the status."""
    known = _CODES.get(complaint.code.lower())
    if known is not None:
        return known
    status = complaint.status
    if status in (402, 403, 429, 400, None) and _OUT_OF_MONEY.search(complaint.message):
        return "provider_quota"
    if status not in (401, 403, 429) and _TOO_LONG.search(complaint.message):
        return "provider_context_too_long"
    if status in (400, 404, 422, 500) and _NO_TOOLS.search(complaint.message):
        return "provider_no_tools"
    if status is None:
        return "upstream_unavailable"
    if status < 400:  # a redirect, or nothing: it is not what is asked for that is wrong, but where
        return "provider_bad_reply"
    return _STATUSES.get(status) or ("upstream_unavailable" if status >= 500 else "provider_bad_request")


def complaint_in(body: bytes, *, status: int | None) -> Complaint:
    """Never raises: a body that is no JSON says nothing, and an HTML page is never quoted."""
    try:
        value = _ANY_JSON.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Complaint(status=status)
    return complaint_of(value, status=status)


def complaint_of(value: Any, *, status: int | None = None) -> Complaint:
    """`value`: decoded JSON in one of the shapes {"error": {…}}, {"error": "…"}, {"code", "message"}, {"detail"}, "…", [ … ]."""
    if isinstance(value, list):  # Google's layer
        value = next(iter(cast(list[Any], value)), None)
    if isinstance(value, dict):
        value = cast(dict[str, Any], value).get("error") or cast(Any, value)
    if isinstance(value, str):
        return Complaint(status=status, message=value)
    if not isinstance(value, dict):
        return Complaint(status=status)
    fields = cast(dict[str, Any], value)
    number = fields.get("code")
    if isinstance(number, int):  # vLLM puts the HTTP status there, SiliconFlow a number of its own
        status = number if status is None and 400 <= number < 600 else status
    names = [name for name in (fields.get("code"), fields.get("type")) if isinstance(name, str)]
    code = next((name for name in names if name.lower() in _CODES), next(iter(names), ""))
    message = fields.get("message") or _details(fields.get("detail"))
    return Complaint(
        status=status,
        code=code,
        message=message if isinstance(message, str) else "",
        param=param if isinstance(param := fields.get("param"), str) else "",
        window_tokens=window if isinstance(window := fields.get("n_ctx"), int) and window > 0 else None,  # llama.cpp
    )


def window_in(message: str) -> int | None:
    """Tokens, as an error's words tell it; None = they don't."""
    found = next((match for pattern in _WINDOWS if (match := re.search(pattern, message, re.IGNORECASE))), None)
    return int(found[1].replace(",", "")) if found and len(found[1]) < 12 else None


def _details(detail: Any) -> Any:
    """FastAPI's list of what is wrong where; what was sent (`input`) is left out."""
    if not isinstance(detail, list):
        return detail
    places = [cast(dict[str, Any], place) for place in cast(list[Any], detail) if isinstance(place, dict)]
    return "; ".join(f"{place.get('loc')}: {place.get('msg')}" for place in places)
