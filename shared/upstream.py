"""A provider's failures become UpstreamError here, once, where they enter the program.

Provider shapes and retry rules: facts of 2026-11 about OpenAI, DeepSeek, DashScope, SiliconFlow, vLLM, llama.cpp, Ollama. They
disagree about status codes, so a `code` is looked at before the status: a 429 may mean "out of money".
Messages name the host and the remedy. They never hold a key; of the provider's own words at most one redacted line.
"""

import asyncio
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import msgspec
from msgspec import Struct

from shared.errors import SettingsError, UpstreamCode, UpstreamError
from shared.wire.endpoint import Endpoint, body_of

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
_REMEDIES: dict[UpstreamCode, str] = {
    "upstream_unavailable": "failed on its own side. Trying again later may help",
    "provider_timeout": "didn't answer in time. Trying again later may help",
    "provider_rate_limited": "is receiving more requests than it allows you. It will accept some again after a pause",
    "provider_overloaded": "is overloaded. Trying again later may help",
    "provider_auth": "refused the API key. Check the key and what it may be used for",
    "provider_quota": "says that the account has no money or quota left. Top it up, or use another provider",
    "provider_bad_request": "refused the request. Check base_url (it usually ends in /v1), the model's name and the settings",
    "provider_no_tools": "says that the model takes no function calls. Use protocol react, or another model",
    "provider_context_too_long": "says that the text is longer than the model can read. Lower the limits or choose another model",
    "provider_content_filtered": "refused the content by its own rules",
    "provider_interrupted": "broke off its answer",
    "provider_bad_reply": "answered in a form that can't be read. Check that base_url leads to an OpenAI-compatible API, or, of a reranker, to one with /rerank",
}
_SECRET = re.compile(r"(?i)bearer\s+\S+|\b(?:sk|pk|key|ak)-[\w*.\-]{4,}|\b[0-9a-f]{32,}\b|\b[\w\-]*\*{3,}[\w\-]*")
_QUOTED_CHARACTERS = 200
_ANY_JSON = msgspec.json.Decoder()


class Complaint(Struct, frozen=True, kw_only=True):
    """What a provider said, whatever shape it said it in; "" and None = it didn't."""

    status: int | None  # of HTTP, or the integer a provider put into `code`
    code: str = ""
    message: str = ""
    param: str = ""
    window_tokens: int | None = None  # told in a field of its own


class Whole(Struct, frozen=True, kw_only=True):
    """An answer that was read to its end, whatever its status."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@contextmanager
def upstream(host: str) -> Generator[None]:
    """Translate httpx's failures. Raises: UpstreamError; SettingsError for a request that can't be sent at all."""
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise UpstreamError(
            "upstream_unavailable", f"{host} could not be reached in time. Check the address and the network."
        ) from error
    except httpx.TimeoutException as error:
        raise failure("provider_timeout", host=host) from error
    except httpx.ConnectError as error:
        raise UpstreamError(
            "upstream_unavailable",
            f"{host} could not be reached ({error}). Check that it runs, the address and the network.",
        ) from error
    except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError) as error:
        raise SettingsError(
            f"No request can be sent to {host}: {type(error).__name__}. Check base_url and the API key."
        ) from error
    except httpx.TransportError as error:
        raise failure("provider_interrupted", host=host) from error
    except httpx.DecodingError as error:
        raise failure("provider_bad_reply", host=host) from error


async def ask(endpoint: Endpoint, body: Any, *, host: str, timeout_s: float) -> Whole:
    """One attempt, read to its end within its time. Raises: as `upstream`, provider_timeout."""
    try:
        async with asyncio.timeout(timeout_s):
            with upstream(host):
                answer = await endpoint.post(body)
                try:
                    return Whole(status=answer.status, headers=answer.headers, content=await body_of(answer))
                finally:
                    await answer.close()
    except TimeoutError as error:
        raise failure("provider_timeout", host=host) from error


def host_of(base_url: str) -> str:
    """ "name:port" without a user or a password. Raises: SettingsError, not an http address."""
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError as error:
        raise SettingsError(f"base_url is no address: {error}.", field="base_url") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError("base_url must begin with http:// or https:// and name a host.", field="base_url")
    return parts.hostname if port is None else f"{parts.hostname}:{port}"


def bearer(api_key: str | None) -> dict[str, str]:
    """The headers that carry the key. Raises: SettingsError (without the key) when it can't be a header."""
    if not api_key:
        return {}
    if not api_key.isascii() or not api_key.isprintable() or api_key != api_key.strip():
        raise SettingsError("The API key holds spaces or characters that no key has. Copy it again.", field="api_key")
    return {"authorization": f"Bearer {api_key}"}


def failure(
    code: UpstreamCode,
    *,
    host: str,
    status: int | None = None,
    said: str = "",
    retry_after_s: float | None = None,
) -> UpstreamError:
    """The error with its remedy; `said`: words of the provider or ours that tell more."""
    shown = f"{host} {_REMEDIES[code]}" + (f" (HTTP {status})" if status else "") + (f": {said}" if said else ".")
    return UpstreamError(code, shown, retry_after_s=retry_after_s, http_status=status)


def refusal(
    status: int, headers: Mapping[str, str], body: bytes, *, host: str, now_s: float, api_key: str | None = None
) -> UpstreamError:
    """The error that an HTTP answer other than 200 means. now_s: UTC seconds, for a Retry-After that is a date."""
    complaint = complaint_in(body, status=status)
    return complained(complaint, host=host, api_key=api_key, retry_after_s=retry_after_s(headers, now_s=now_s))


def complained(
    complaint: Complaint,
    *,
    host: str,
    api_key: str | None = None,
    retry_after_s: float | None = None,
) -> UpstreamError:
    code = classify(complaint)
    # Only where the provider's words help to mend it; a body may echo what was sent.
    said = _redacted(complaint.message, api_key) if code in ("provider_bad_request", "provider_no_tools") else ""
    error = failure(code, host=host, status=complaint.status, said=said, retry_after_s=retry_after_s)
    if code == "provider_context_too_long":
        error.window_tokens = complaint.window_tokens or _window_in(complaint.message)
    return error


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


def _window_in(message: str) -> int | None:
    found = next((match for pattern in _WINDOWS if (match := re.search(pattern, message, re.IGNORECASE))), None)
    return int(found[1].replace(",", "")) if found and len(found[1]) < 12 else None


def retry_after_s(headers: Mapping[str, str], *, now_s: float) -> float | None:
    """Seconds from `retry-after-ms`, else `retry-after` (a number or a date), never negative; None = not said or not readable."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    seconds = _number(said)
    if seconds is not None or said is None:
        return seconds
    try:
        return max(parsedate_to_datetime(said).timestamp() - now_s, 0.0)
    except (ValueError, OverflowError):
        return None


def _details(detail: Any) -> Any:
    """FastAPI's list of what is wrong where; what was sent (`input`) is left out."""
    if not isinstance(detail, list):
        return detail
    places = [cast(dict[str, Any], place) for place in cast(list[Any], detail) if isinstance(place, dict)]
    return "; ".join(f"{place.get('loc')}: {place.get('msg')}" for place in places)


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\s*-?\d{1,12}(?:\.\d*)?\s*", text):
        return None
    return max(float(text), 0.0)


def _redacted(message: str, api_key: str | None) -> str:
    if api_key:
        message = message.replace(api_key, "…")
    line = " ".join(_SECRET.sub("…", message).split())
    return line if len(line) <= _QUOTED_CHARACTERS else f"{line[:_QUOTED_CHARACTERS]}…"
