"""Addresses of block pages that a person can follow: of the snapshot that was read and, where a key is demanded, signed.

A browser that follows a link brings no key. What its address says instead is checked: this block, this snapshot, for whom it was
made, until then, signed by this installation. It opens that block, with the blocks around it and what its document is called, for as
long as that key would open it: no labels, no file names, no way on to anything else.
"""

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from shared.access import Access
from shared.clock import NowMs, now_ms
from shared.errors import StorageError

DAYS = 30
PARAMETERS = ("snapshot", "key", "until", "signature")  # `key`: absent = the owner's; `until`: s since 1970
_SECRET_BYTES = 32
_PREFIX = "/api/blocks/"


class BlockLinks:
    """`secret` None: no key is demanded here, nothing is signed. `owner_key`: the settings', which ends the owner's links by changing."""

    def __init__(self, secret: bytes | None, *, owner_key: str | None, now_ms: NowMs = now_ms) -> None:
        self._secret = secret
        self._owner_sha256 = hashlib.sha256((owner_key or "").encode()).hexdigest()
        self._now_ms = now_ms

    def path(self, block_id: str, snapshot_id: str, access: Access) -> str:
        """From the root of this server; for whoever asked."""
        query = {"snapshot": snapshot_id}
        if self._secret is not None:
            if access.key_id is not None:
                query["key"] = access.key_id
            query["until"] = str(self._now_ms() // 1000 + DAYS * 86_400)
            query["signature"] = self._signature(self._secret, block_id, query)
        return f"{_PREFIX}{block_id.replace('#', '%23')}?{urlencode(query)}"

    def opens(self, path: str, query: Mapping[str, str]) -> bool:
        """Whether the address is one of ours and still holds. `path`: decoded."""
        until, given = query.get("until", ""), query.get("signature", "")
        if self._secret is None or not path.startswith(_PREFIX) or not until.isascii() or not until.isdigit():
            return False
        expected = self._signature(self._secret, path.removeprefix(_PREFIX), query)
        return hmac.compare_digest(given.encode(), expected.encode()) and int(until) * 1000 > self._now_ms()

    def _signature(self, secret: bytes, block_id: str, query: Mapping[str, str]) -> str:
        bearer = query.get("key", self._owner_sha256)
        signed = "\n".join((block_id, query.get("snapshot", ""), query["until"], bearer)).encode()
        return base64.urlsafe_b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode().rstrip("=")


def read_secret(path: Path) -> bytes:
    """This installation's secret, made when it is not there. Blocking. Raises: StorageError."""
    try:
        if path.exists() and len(kept := path.read_bytes()) == _SECRET_BYTES:
            return kept
        made = secrets.token_bytes(_SECRET_BYTES)
        new = path.with_name(f"{path.name}.new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(made)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise StorageError(f"The secret for links to blocks, {path}, can't be used: {error.strerror}.") from error
    return made
