"""What the API says of itself."""

import httpx
import msgspec
from msgspec import Struct


class Part(Struct, frozen=True, kw_only=True):
    """state: ok, none (not there, and it works all the same), loading, failed."""

    state: str
    detail: str | None = None


class Readiness(Struct, frozen=True, kw_only=True):
    """GET /readyz, as far as anybody here needs it."""

    parts: dict[str, Part]


_decoder = msgspec.json.Decoder(Readiness)


def read_readiness(address: str, *, key: str | None, timeout_s: float) -> dict[str, Part] | None:
    """The parts by name; None when nothing answers, or nothing that is ours. Without the `key` nothing says why a part failed."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    try:
        reply = httpx.get(f"{address}/readyz", headers=headers, timeout=timeout_s, trust_env=False)
        return _decoder.decode(reply.content).parts
    except (httpx.TransportError, msgspec.DecodeError):
        return None
