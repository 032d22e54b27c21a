"""API keys: made (the secret is told once), listed, revoked. For admins."""

from litestar import Router, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from api.callers import NEEDS_ADMIN
from api.parts import Parts
from shared.catalog.keys import add_key, list_keys, revoke_key
from shared.keys import check_ceiling
from shared.types.keys import ApiKey, MadeKey, NewKey


@get("/", sync_to_thread=True)
def list_all(parts: NamedDependency[Parts]) -> list[ApiKey]:
    """The newest first; those that were revoked stay, at the end, so that the runs they made keep a name."""
    with parts.catalog.open() as db:
        return list_keys(db)


@post("/", status_code=201, sync_to_thread=True)
def create(parts: NamedDependency[Parts], data: JSONBody[NewKey]) -> MadeKey:
    """The reply alone holds the secret; what is kept is its hash. 409 when a key that holds has the name."""
    check_ceiling(parts.settings.limits, data.limits)
    with parts.catalog.open() as db:
        return add_key(db, data, now_ms=parts.now_ms())


@delete("/{key:str}", status_code=200, sync_to_thread=True)
def revoke(parts: NamedDependency[Parts], key: FromPath[str]) -> ApiKey:
    """By id or name. It lets nobody in any more, and links made for it open nothing."""
    with parts.catalog.open() as db:
        return revoke_key(db, key, now_ms=parts.now_ms())


keys = Router("/api/keys", route_handlers=[list_all, create, revoke], tags=["keys"], opt=NEEDS_ADMIN)
