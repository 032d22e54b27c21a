"""API keys: made, listed, revoked, recognised."""

from msgspec import convert, structs
from sqlite_utils import Database

from shared.access import check_labels
from shared.catalog.db import writing
from shared.catalog.rows import Row, from_json, one, rows, to_json
from shared.errors import Conflict, InvalidArgument, NotFound
from shared.ids import KeyId
from shared.keys import is_secret_of, key_id_of, new_secret, prefix_of, secret_sha256
from shared.types.keys import ApiKey, MadeKey, NewKey

USE_MS = 60_000  # a key's last use is written down this often at most

_SEEN = ", ".join(name for name in ApiKey.__struct_fields__ if name != "prefix")
_VALID = "revoked_at_ms is null and (expires_at_ms is null or expires_at_ms > :now)"


def add_key(db: Database, wanted: NewKey, *, now_ms: int) -> MadeKey:
    """Raises: InvalidArgument, Conflict when a key that was not revoked has the name, StorageError."""
    _check(wanted, now_ms=now_ms)
    key_id, secret = new_secret()
    with writing(db) as connection:
        taken = one(db, "select key_id from api_keys where name = :name and revoked_at_ms is null", name=wanted.name)
        if taken is not None:
            raise Conflict(
                f"A key is called {wanted.name!r} already. Revoke it first, or take another name.",
                field="name",
                ids=[taken["key_id"]],
            )
        connection.execute(
            "insert into api_keys (key_id, name, secret_sha256, permission, roles, limits, requests_per_minute, created_at_ms,"
            " expires_at_ms) values (:key_id, :name, :secret_sha256, :permission, :roles, :limits, :requests_per_minute, :now,"
            " :expires_at_ms)",
            {
                "key_id": key_id,
                "name": wanted.name,
                "secret_sha256": secret_sha256(secret),
                "permission": wanted.permission,
                "roles": to_json(sorted(set(wanted.roles))),
                "limits": to_json(structs.asdict(wanted.limits)),
                "requests_per_minute": wanted.requests_per_minute,
                "now": now_ms,
                "expires_at_ms": wanted.expires_at_ms,
            },
        )
    return MadeKey(secret=secret, key=_get(db, key_id))


def list_keys(db: Database) -> list[ApiKey]:
    """The newest first, those that hold no longer at the end."""
    found = rows(db, f"select {_SEEN} from api_keys order by revoked_at_ms is not null, created_at_ms desc, key_id")
    return [_key(row) for row in found]


def revoke_key(db: Database, named: str, *, now_ms: int) -> ApiKey:
    """It lets nobody in from now on, and the links made for it open nothing. `named`: id, or name of one that still holds.

    Once revoked it stays so; doing it again changes nothing. Raises: NotFound, StorageError.
    """
    with writing(db) as connection:
        found = one(
            db,
            "select key_id from api_keys where key_id = :named or (name = :named and revoked_at_ms is null)",
            named=named,
        )
        if found is None:
            raise NotFound("There is no such key.", field="key_id", ids=[named])
        connection.execute(
            "update api_keys set revoked_at_ms = coalesce(revoked_at_ms, :now) where key_id = :id",
            {"now": now_ms, "id": found["key_id"]},
        )
    return _get(db, KeyId(found["key_id"]))


def key_with_secret(db: Database, secret: str, *, now_ms: int) -> ApiKey | None:
    """The key that this is the secret of; None for none, and for one that was revoked or has run out. Raises: StorageError."""
    key_id = key_id_of(secret)
    row = (
        None
        if key_id is None
        else one(db, f"select secret_sha256 from api_keys where key_id = :id and {_VALID}", id=key_id, now=now_ms)
    )
    if key_id is None or row is None or not is_secret_of(secret, row["secret_sha256"]):
        return None
    return _get(db, key_id)


def valid_key(db: Database, key_id: str, *, now_ms: int) -> ApiKey | None:
    """The key, if it still lets somebody in. Raises: StorageError."""
    row = one(db, f"select {_SEEN} from api_keys where key_id = :id and {_VALID}", id=key_id, now=now_ms)
    return None if row is None else _key(row)


def note_use(db: Database, key_id: KeyId, *, now_ms: int) -> None:
    """Raises: StorageError."""
    with writing(db, lasting=False) as connection:
        connection.execute(
            "update api_keys set last_used_at_ms = max(coalesce(last_used_at_ms, 0), :now) where key_id = :id",
            {"now": now_ms, "id": key_id},
        )


def _check(wanted: NewKey, *, now_ms: int) -> None:
    if wanted.permission != "read" and wanted.roles:
        raise InvalidArgument(
            f"A key with the permission {wanted.permission} reads every document, because it decides over their labels."
            " Leave the roles out, or make it a key that may only read.",
            field="roles",
        )
    check_labels(wanted.roles, field="roles")
    if any(not sign.isprintable() for sign in wanted.name):
        raise InvalidArgument("A key's name is one line of printable characters.", field="name")
    if wanted.expires_at_ms is not None and wanted.expires_at_ms <= now_ms:
        raise InvalidArgument(
            "expires_at_ms lies in the past; it is in milliseconds since 1970, UTC.", field="expires_at_ms"
        )


def _get(db: Database, key_id: KeyId) -> ApiKey:
    row = one(db, f"select {_SEEN} from api_keys where key_id = :id", id=key_id)
    assert row is not None
    return _key(row)


def _key(row: Row) -> ApiKey:
    return convert(from_json(row, "roles", "limits") | {"prefix": prefix_of(KeyId(row["key_id"]))}, ApiKey)
