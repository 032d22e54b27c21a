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
        async with asyncio.timeout(timeout_s), httpx.AsyncClient(timeout=None, trust_env=trust_env) as client:
            with upstream(host):
                async with client.stream("GET", url, headers=bearer(settings.api_key)) as response:
                    content = await _read(response, host)
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


async def _read(response: httpx.Response, host: str) -> bytes:
    """Raises: UpstreamError when it is no list of names by its size alone."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > _MOST_BYTES:
            raise failure("provider_bad_reply", host=host)
    return bytes(content)
