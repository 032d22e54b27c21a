"""Who may read what. Computed once per run and part of every read.

A document carries labels; a caller holds labels. A document without labels is for everyone who may call at all.
"""

import hashlib
from typing import Literal

from msgspec import Struct

from shared.errors import InvalidArgument
from shared.ids import KeyId

EVERYONE = "*"  # stands in the index for "no labels"

# Each holds the ones before it. read: read and ask. write: import and care for snapshots; who may do that decides over labels, so he
# reads everything. admin: keys, and what others asked.
Permission = Literal["read", "write", "admin"]


class Access(Struct, frozen=True, kw_only=True):
    """`labels` None = every document; otherwise the caller's roles: he reads what carries one of them, and what carries none."""

    labels: frozenset[str] | None
    permission: Permission = "read"
    key_id: KeyId | None = None  # None: the owner, who needs no key of the catalog

    @property
    def is_admin(self) -> bool:
        return self.permission == "admin"

    def sha256(self) -> str:
        text = "*" if self.labels is None else "\0".join(sorted(self.labels))
        return hashlib.sha256(text.encode()).hexdigest()


OWNER = Access(labels=None, permission="admin")
STRANGER = Access(labels=frozenset())  # on the routes that are open to everybody


def shown_labels(document_labels: tuple[str, ...], access: Access) -> tuple[str, ...]:
    """A document's labels as the caller may see them: those of others are none of his business."""
    return document_labels if access.labels is None else tuple(one for one in document_labels if one in access.labels)


def check_labels(labels: tuple[str, ...], *, field: str) -> None:
    """Before they are given to documents. Raises: InvalidArgument for one that is blank or would mean everyone."""
    for label in labels:
        if not label.strip() or label == EVERYONE:
            raise InvalidArgument(
                f"{label!r} can't be an access label. Leave the labels out, or say [], to let everyone read.",
                field=field,
            )


def index_labels(document_labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels as stored in a collection's payload."""
    return document_labels or (EVERYONE,)
