"""Secrets of API keys: how they are made, recognised and compared; and what a key's ceilings leave of the limits. Pure but for chance.

A secret is "cbk_", 8 characters that name the key, "_", 43 characters of 256 random bits. It is stored as a plain SHA-256: what
slow hashes protect, a choice of people that can be guessed, is not there, and a slow hash would be paid by every request.
"""

import base64
import hashlib
import hmac
import re
import secrets

from msgspec import structs

from shared.errors import InvalidArgument
from shared.ids import KeyId
from shared.settings import ApiSettings
from shared.types.keys import KeyLimits
from shared.types.runs import Limits

MARK = "cbk_"
_SECRET = re.compile(r"cbk_([a-z2-7]{8})_[A-Za-z0-9_-]{43}")


def demands_key(settings: ApiSettings) -> bool:
    """Whether a caller without a key is nobody; otherwise whoever reaches the (loopback) address is the owner."""
    return settings.api_key is not None or settings.require_key


def new_secret() -> tuple[KeyId, str]:
    """A new key's id and its secret."""
    named = base64.b32encode(secrets.token_bytes(5)).decode().lower()
    return KeyId(f"key_{named}"), f"{MARK}{named}_{secrets.token_urlsafe(32)}"


def key_id_of(secret: str) -> KeyId | None:
    """Which key a secret belongs to, if it is one; None for what has not the form of ours."""
    found = _SECRET.fullmatch(secret)
    return None if found is None else KeyId(f"key_{found.group(1)}")


def prefix_of(key_id: KeyId) -> str:
    return f"{MARK}{key_id.removeprefix('key_')}"


def secret_sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def is_secret_of(secret: str, sha256: str) -> bool:
    """Takes the same time wherever they differ."""
    return hmac.compare_digest(secret_sha256(secret), sha256)


def limits_under(limits: Limits, ceiling: KeyLimits) -> Limits:
    """The settings' limits, each cut to what the key is allowed."""
    most = {name: value for name, value in structs.asdict(ceiling).items() if value is not None}
    return structs.replace(limits, **{name: min(value, getattr(limits, name)) for name, value in most.items()})


def check_ceiling(limits: Limits, ceiling: KeyLimits) -> None:
    """Raises: InvalidArgument when no run would fit beneath it."""
    under = limits_under(limits, ceiling)
    if under.max_context_tokens <= under.finalization_reserve_tokens:
        raise InvalidArgument(
            f"max_context_tokens is {under.max_context_tokens}; {under.finalization_reserve_tokens} are kept back for the final answer"
            " (finalization_reserve_tokens), so that must be less, or this more.",
            field="limits.max_context_tokens",
        )
