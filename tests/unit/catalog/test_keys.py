"""API keys in the catalog."""

import pytest
from sqlite_utils import Database

from shared.access import Access
from shared.catalog.keys import add_key, key_with_secret, list_keys, note_use, revoke_key, valid_key
from shared.errors import Conflict, InvalidArgument, NotFound
from shared.types.keys import KeyLimits, NewKey
from tests.unit.catalog.factories import NOW

READER = NewKey(
    name="财务助手", roles=("finance", "hr", "hr"), limits=KeyLimits(max_tool_calls=3), expires_at_ms=NOW + 10
)


def test_a_key_is_found_by_its_secret_until_it_runs_out(db: Database) -> None:
    made = add_key(db, READER, now_ms=NOW)
    assert (made.key.roles, made.key.prefix) == (("finance", "hr"), made.secret[:12])
    assert made.key.access == Access(labels=frozenset({"finance", "hr"}), key_id=made.key.key_id)
    assert [key_with_secret(db, made.secret, now_ms=at_ms) for at_ms in (NOW, NOW + 9, NOW + 10)] == [
        made.key,
        made.key,
        None,
    ]
    assert valid_key(db, made.key.key_id, now_ms=NOW) == made.key


def test_the_secret_is_nowhere_in_the_catalog(db: Database) -> None:
    made = add_key(db, READER, now_ms=NOW)
    stored = "".join(str(row) for row in db.conn.execute("select * from api_keys"))
    assert made.secret[13:] not in stored


def test_another_secret_is_nobody_s(db: Database) -> None:
    made = add_key(db, READER, now_ms=NOW)
    for given in (made.secret[:-1] + "~", made.secret.upper(), "", made.secret + "A", made.secret[:12]):
        assert key_with_secret(db, given, now_ms=NOW) is None
    other = add_key(db, NewKey(name="另一把"), now_ms=NOW)
    assert key_with_secret(db, made.secret[:12] + other.secret[12:], now_ms=NOW) is None


def test_a_revoked_key_lets_nobody_in_and_stays_listed_behind_the_others(db: Database) -> None:
    first = add_key(db, READER, now_ms=NOW)
    second = add_key(db, NewKey(name="b"), now_ms=NOW + 1)
    gone = revoke_key(db, "b", now_ms=NOW + 2)
    assert (gone.key_id, gone.revoked_at_ms) == (second.key.key_id, NOW + 2)
    assert key_with_secret(db, second.secret, now_ms=NOW + 3) is None
    assert valid_key(db, second.key.key_id, now_ms=NOW + 3) is None
    assert list_keys(db) == [first.key, gone]
    assert revoke_key(db, second.key.key_id, now_ms=NOW + 9) == gone


def test_a_name_is_free_again_when_its_key_was_revoked(db: Database) -> None:
    first = add_key(db, READER, now_ms=NOW)
    with pytest.raises(Conflict) as taken:
        add_key(db, READER, now_ms=NOW)
    assert (taken.value.field, taken.value.ids) == ("name", (first.key.key_id,))
    revoke_key(db, READER.name, now_ms=NOW)
    assert add_key(db, READER, now_ms=NOW).key.key_id != first.key.key_id


def test_what_is_not_there_can_not_be_revoked(db: Database) -> None:
    with pytest.raises(NotFound):
        revoke_key(db, "没有", now_ms=NOW)


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (NewKey(name="a", permission="write", roles=("hr",)), "roles"),
        (NewKey(name="a", permission="admin", roles=("hr",)), "roles"),
        (NewKey(name="a", roles=("*",)), "roles"),
        (NewKey(name="a", roles=("hr", " ")), "roles"),
        (NewKey(name="a\nb"), "name"),
        (NewKey(name="a", expires_at_ms=NOW), "expires_at_ms"),
    ],
)
def test_a_key_that_would_mean_something_else_is_refused(db: Database, wanted: NewKey, field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        add_key(db, wanted, now_ms=NOW)
    assert (refused.value.field or "").startswith(field)
    assert list_keys(db) == []


@pytest.mark.parametrize("permission", ["write", "admin"])
def test_a_key_that_decides_over_labels_reads_everything(db: Database, permission: str) -> None:
    made = add_key(db, NewKey(name="a", permission="write" if permission == "write" else "admin"), now_ms=NOW)
    assert made.key.access.labels is None
    assert made.key.access.is_admin == (permission == "admin")


def test_the_last_use_never_goes_back(db: Database) -> None:
    made = add_key(db, READER, now_ms=NOW)
    for at_ms in (NOW + 5, NOW + 3):
        note_use(db, made.key.key_id, now_ms=at_ms)
    assert list_keys(db)[0].last_used_at_ms == NOW + 5
