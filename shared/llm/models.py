"""Which models a provider offers: `GET /models`, which all OpenAI-compatible ones have."""

import asyncio
import time

import httpx
import msgspec
from msgspec import Struct

from shared.errors import SettingsError
from shared.loopback import leads_to_loopback
from shared.settings import ChatSettings
from shared.upstream import bearer, failure, host_of, refusal, upstream
from shared.wire.bodies import inflated, start, whole

_MOST = 300  # names; a gateway may offer thousands
_MOST_BYTES = 2_000_000  # some five thousand names with all that gateways tell of each


class _Model(Struct):
    id: str


class _Models(Struct):
    data: list[_Model]


_decoder = msgspec.json.Decoder(_Models)


async def list_models(settings: ChatSettings, *, timeout_s: float) -> tuple[str, ...]:
    """Names in order, at most 300. `settings.model` doesn't matter. Raises: UpstreamError, SettingsError."""
    if settings.base_url is None:
        raise SettingsError("A chat provider needs base_url.", field="chat.base_url")
    host, url = host_of(settings.base_url), settings.base_url.rstrip("/") + "/models"
    trust_env = not leads_to_loopback(url)  # no proxy between two processes of one machine
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(
                timeout=None, trust_env=trust_env, headers={"accept-encoding": "gzip, deflate"}
            ) as client,
        ):
            with upstream(host):
                async with client.stream("GET", url, headers=bearer(settings.api_key)) as response:
                    content = await _read(response)
    except TimeoutError as error:
        raise failure("provider_timeout", host=host) from error
    if response.status_code != 200:
        raise refusal(
            response.status_code,
            response.headers,
            content,
            host=host,
            now_s=time.time(),
            api_key=settings.api_key,
        )
    try:
        found = _decoder.decode(content).data
    except msgspec.DecodeError as error:
        raise failure("provider_bad_reply", host=host) from error
    return tuple(sorted({one.id for one in found}))[:_MOST]


async def _read(response: httpx.Response) -> bytes:
    """Raises: httpx.TransportError, httpx.DecodingError; Oversized when it is no list of names by its size alone."""
    pieces = response.aiter_raw()
    piece = inflated(lambda: anext(pieces, b""), response.headers.get("content-encoding", ""))
    return await (whole if response.status_code == 200 else start)(piece, most_bytes=_MOST_BYTES)
