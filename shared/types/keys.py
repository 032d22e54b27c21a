"""API keys: who may come in besides the owner, and how far he gets."""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from shared.access import Access, Permission
from shared.ids import KeyId

Number: TypeAlias = Annotated[int, Meta(ge=1, le=2**53 - 1)]  # as far as every JSON reader counts
LATEST_MS = 253_370_764_800_000  # 9999-01-01: dates behind it can't be written everywhere


class KeyLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run of this key may take at most; None = what the settings allow. The settings hold all the same."""

    max_context_tokens: Number | None = None
    max_request_tokens: Number | None = None
    max_tool_calls: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None
    finalization_reserve_tokens: Number | None = None
    max_wall_seconds: Number | None = None


class NewKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is wanted of a key."""

    name: Annotated[str, Meta(min_length=1, max_length=80, pattern=r"^[^/]*[^\s/][^/]*$")]  # a part of an address
    permission: Permission = "read"
    roles: tuple[str, ...] = ()  # access labels; a key of `read` only: the others read everything
    limits: KeyLimits = KeyLimits()
    requests_per_minute: Number | None = 600  # None = as many as it likes
    expires_at_ms: Annotated[int, Meta(ge=1, le=LATEST_MS)] | None = None  # None = never


class ApiKey(Struct, frozen=True, kw_only=True):
    """A key as it is known; its secret is not."""

    key_id: KeyId
    name: str  # unique among keys that were not revoked
    prefix: str  # how its secret begins
    permission: Permission
    roles: tuple[str, ...]
    limits: KeyLimits
    requests_per_minute: int | None
    created_at_ms: int
    expires_at_ms: int | None
    last_used_at_ms: int | None  # a minute off at most
    revoked_at_ms: int | None

    @property
    def access(self) -> Access:
        labels = frozenset(self.roles) if self.permission == "read" else None
        return Access(labels=labels, permission=self.permission, key_id=self.key_id)


class MadeKey(Struct, frozen=True, kw_only=True):
    """Told once, to whoever made it."""

    secret: str  # sent as a bearer token
    key: ApiKey
