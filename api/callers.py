"""Who a caller is: the owner, a key of the catalog, a browser that was signed in with one, somebody with a signed link, or nobody.

Keys are looked up at every request: one that was revoked, by whatever process, opens nothing from the next request on.
"""

import asyncio
import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final, cast

from msgspec import Struct, structs

from api.links import BlockLinks
from api.parts import CatalogDoor
from api.rates import Rates
from api.sessions import Sessions
from shared.access import OWNER, STRANGER, Access, Permission
from shared.catalog.keys import USE_MS, key_with_secret, note_use, valid_key
from shared.clock import NowMs
from shared.errors import RateLimited, StorageError, Unauthorized
from shared.ids import KeyId
from shared.keys import MARK, demands_key, limits_under
from shared.settings import Settings
from shared.types.keys import ApiKey
from shared.types.runs import Limits

_log = logging.getLogger(__name__)

# What a route asks of its caller, in the `opt` of its router or handler. A route that says nothing is for admins.
NEEDS: Final = "needs"
NEEDS_NOTHING: Final[dict[str, None]] = {NEEDS: None}  # open to everybody
NEEDS_READ: Final[dict[str, Permission]] = {NEEDS: "read"}
NEEDS_WRITE: Final[dict[str, Permission]] = {NEEDS: "write"}
NEEDS_ADMIN: Final[dict[str, Permission]] = {NEEDS: "admin"}
_RANK: dict[Permission, int] = {"read": 0, "write": 1, "admin": 2}


class Caller(Struct, frozen=True, kw_only=True):
    """`limits`: the most that a run of his may take. `known`: brings a key, or none is demanded; a signed link opens one block.

    `signed_in`: by the cookie of a browser, which sends it by itself.
    """

    access: Access
    limits: Limits
    known: bool = True
    signed_in: bool = False

    def may(self, needed: Permission) -> bool:
        return _RANK[self.access.permission] >= _RANK[needed]


def caller_in(state: Mapping[str, Any]) -> Caller:
    """Whom the edge let in. `state`: of the request's scope."""
    return cast(Caller, state["caller"])


class Callers:
    def __init__(
        self, settings: Settings, catalog: CatalogDoor, links: BlockLinks, sessions: Sessions, *, now_ms: NowMs
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._links = links
        self._sessions = sessions
        self._now_ms = now_ms
        self._rates = Rates()
        self._noted_ms: dict[KeyId, int] = {}
        self._noting: set[asyncio.Task[None]] = set()
        self.stranger = Caller(access=STRANGER, limits=settings.limits, known=False)

    async def with_key(self, headers: Mapping[str, str]) -> Caller | None:
        """By what the request brings, names of headers in lower case; None = nobody.

        A key of ours that is wrong, revoked or out of time is nobody, also where a request without one is the owner's.
        Raises: RateLimited, StorageError.
        """
        given = bearer(headers)
        own = self._settings.api.api_key
        if own is not None and given is not None and secrets.compare_digest(given.encode(), own.encode()):
            return self._owner()
        if given is not None and given.startswith(MARK):
            key = await asyncio.to_thread(self._look_up, given)
            return None if key is None else self._counted(key)
        return None if demands_key(self._settings.api) else self._owner()

    async def with_session(self, headers: Mapping[str, str]) -> Caller | None:
        """By the cookie of a browser that was signed in, as long as its key lets somebody in. Raises: RateLimited, StorageError."""
        session = self._sessions.of(headers)
        if session is None:
            return None
        if session.key_id is None:
            return structs.replace(self._owner(), signed_in=True)
        key = await asyncio.to_thread(self._valid, session.key_id)
        return None if key is None else structs.replace(self._counted(key), signed_in=True)

    async def with_link(self, path: str, query: Mapping[str, str]) -> Caller | None:
        """By a signed address: whoever follows it sees the block as the key sees it now that the link was made for.

        Raises: RateLimited, StorageError.
        """
        if not self._links.opens(path, query):
            return None
        key_id = query.get("key")
        if key_id is None:
            return Caller(access=OWNER, limits=self._settings.limits, known=False)
        key = await asyncio.to_thread(self._valid, key_id)
        if key is None:
            return None
        self._count(key)
        return Caller(access=key.access, limits=self._settings.limits, known=False)

    async def close(self) -> None:
        """Wait until the last uses are written down."""
        await asyncio.gather(*self._noting)

    def _owner(self) -> Caller:
        return Caller(access=OWNER, limits=self._settings.limits)

    def _counted(self, key: ApiKey) -> Caller:
        self._count(key)
        now_ms = self._now_ms()
        seen_ms = max(self._noted_ms.get(key.key_id, 0), key.last_used_at_ms or 0)
        if now_ms - seen_ms >= USE_MS:
            self._noted_ms[key.key_id] = now_ms
            task = asyncio.create_task(asyncio.to_thread(self._note, key.key_id, now_ms))
            self._noting.add(task)  # beside the request: it must not wait for whoever writes the catalog
            task.add_done_callback(self._noting.discard)
        return Caller(access=key.access, limits=limits_under(self._settings.limits, key.limits))

    def _count(self, key: ApiKey) -> None:
        if key.requests_per_minute is None:
            return
        wait_s = self._rates.take(key.key_id, key.requests_per_minute)
        if wait_s is not None:
            raise RateLimited(
                f"This key may make {key.requests_per_minute} requests a minute, and has made them.",
                retry_after_s=wait_s,
            )

    def _look_up(self, secret: str) -> ApiKey | None:
        with self._catalog.open() as db:
            return key_with_secret(db, secret, now_ms=self._now_ms())

    def _valid(self, key_id: str) -> ApiKey | None:
        with self._catalog.open() as db:
            return valid_key(db, key_id, now_ms=self._now_ms())

    def _note(self, key_id: KeyId, now_ms: int) -> None:
        try:
            with self._catalog.open() as db:
                note_use(db, key_id, now_ms=now_ms)
        except StorageError as error:
            _log.warning("the use of %s was not written down: %s", key_id, error)


def bearer(headers: Mapping[str, str]) -> str | None:
    """The token of an Authorization header; None when there is none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() or None if scheme.lower() == "bearer" else None


def unauthorized(headers: Mapping[str, str], *, link_days: int) -> Unauthorized:
    """The same for every key that is not one, whatever it was once."""
    if bearer(headers) is not None:
        return Unauthorized("The key that was given is none of this server's, was revoked or has run out.")
    return Unauthorized(
        "This server wants a key as a bearer token, and none was given."
        f" A link to a block opens it without a key for {link_days} days: ask again for a new one."
    )
