"""Signed-in browsers: a cookie that says whose key was shown, and until when. The key itself is not in it.

A browser's page can't put a bearer token on the addresses that a person opens. The cookie is out of reach of every script (HttpOnly),
comes along from our own pages only (SameSite=Strict), and names a key that is looked up again at every request, as a token would be.
Source: decision 0110.
"""

import hashlib
import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from msgspec import Struct

from shared.clock import NowMs, now_ms
from shared.ids import KeyId

COOKIE = "citebound_session"
HOURS = 7 * 24
_OWNER = "owner"


class Session(Struct, frozen=True, kw_only=True):
    key_id: KeyId | None  # None = the owner's


class Sessions:
    """`secret`: of this installation; None: no key is demanded here, nobody signs in. `owner_key`: the settings', which ends its sessions by changing."""

    def __init__(self, secret: bytes | None, *, owner_key: str | None, now_ms: NowMs = now_ms) -> None:
        self._secret = secret
        self._owner_sha256 = hashlib.sha256((owner_key or "").encode()).hexdigest()
        self._now_ms = now_ms

    @property
    def are_kept(self) -> bool:
        return self._secret is not None

    def begin(self, key_id: KeyId | None) -> str:
        """The value of a cookie for the bearer of that key, None = the owner. Only where a key is demanded."""
        assert self._secret is not None
        until = str(self._now_ms() // 1000 + HOURS * 3_600)
        return f"{key_id or _OWNER}.{until}.{self._signature(self._secret, key_id or _OWNER, until)}"

    def of(self, headers: Mapping[str, str]) -> Session | None:
        """The session that a request brings, if it is one of ours and still holds. Names of headers in lower case."""
        whose, _, rest = cookie(headers, COOKIE).partition(".")
        until, _, given = rest.partition(".")
        if self._secret is None or not (until.isascii() and until.isdigit()) or len(until) > 12:
            return None
        expected = self._signature(self._secret, whose, until)
        if not hmac.compare_digest(given.encode(), expected.encode()) or int(until) * 1000 <= self._now_ms():
            return None
        return Session(key_id=None if whose == _OWNER else KeyId(whose))

    def _signature(self, secret: bytes, whose: str, until: str) -> str:
        owner_sha256 = self._owner_sha256 if whose == _OWNER else ""
        return hmac.digest(secret, "\n".join(("session", whose, until, owner_sha256)).encode(), hashlib.sha256).hex()


def cookie(headers: Mapping[str, str], name: str) -> str:
    """A cookie's value; "" when there is none, or no such header can be read."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value
