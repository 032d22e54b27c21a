"""A provider's failures become UpstreamError here, once, where they enter the program.

What its words and codes mean: `complaints.py`.
Messages name the host and the remedy. They never hold a key; of the provider's own words at most one redacted line.
"""

import asyncio
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
from msgspec import Struct

from shared.complaints import Complaint, classify, complaint_in, window_in
from shared.errors import SettingsError, UpstreamCode, UpstreamError
from shared.wire.bodies import Oversized, start, whole
from shared.wire.endpoint import Answer, Endpoint

_MOST_COMPLAINT = 2_000_000  # bytes; some send back what was sent
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
_SECRET = re.compile(
    r"(?i)bearer\s+\S+|\b(?:sk|pk|key|ak)-[\w*.\-]{4,}|\b[0-9a-f]{32,}\b|(?<![\w\-])[\w\-]++\*{3,}[\w\-]*"
)
_QUOTED_CHARACTERS = 200
_MOST_TOKENS = 1_000_000_000  # of one call


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
    except Oversized as error:
        raise failure("provider_bad_reply", host=host, said=str(error)) from error
    except httpx.DecodingError as error:
        raise failure("provider_bad_reply", host=host) from error


async def ask(endpoint: Endpoint, body: Any, *, host: str, timeout_s: float, most_bytes: int) -> Whole:
    """One attempt, read to its end within its time. `most_bytes`: of what can be an answer. Raises: as `upstream`, provider_timeout."""
    try:
        async with asyncio.timeout(timeout_s):
            with upstream(host):
                answer = await endpoint.post(body)
                try:
                    content = await (
                        whole(answer.piece, most_bytes=most_bytes) if answer.status == 200 else complaint_body(answer)
                    )
                    return Whole(status=answer.status, headers=answer.headers, content=content)
                finally:
                    await answer.close()
    except TimeoutError as error:
        raise failure("provider_timeout", host=host) from error


async def complaint_body(answer: Answer) -> bytes:
    """Of an answer other than 200, as much as it can take to say why: the status tells enough of one that goes on. Raises: as `upstream`."""
    return await start(answer.piece, most_bytes=_MOST_COMPLAINT)


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
        error.window_tokens = complaint.window_tokens or window_in(complaint.message)
    return error


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


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\s*-?\d{1,12}(?:\.\d*)?\s*", text):
        return None
    return max(float(text), 0.0)


def _redacted(message: str, api_key: str | None) -> str:
    if api_key:
        message = message.replace(api_key, "…")
    line = " ".join(_SECRET.sub("…", message).split())
    return line if len(line) <= _QUOTED_CHARACTERS else f"{line[:_QUOTED_CHARACTERS]}…"


def tokens_told(value: object) -> int:
    """A provider's own figure. Zero for what can't be a number of tokens."""
    return int(value) if isinstance(value, (int, float)) and 0 < value < _MOST_TOKENS else 0
