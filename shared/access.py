"""Who may read what. Computed once per run and part of every read.

A document carries labels; a caller holds labels. A document without labels is for everyone who may call at all.
"""

import hashlib

from msgspec import Struct

from shared.errors import InvalidArgument

EVERYONE = "*"  # stands in the index for "no labels"


class Access(Struct, frozen=True, kw_only=True):
    """`labels` None = everything (the owner on his own machine); otherwise what the caller's roles grant."""

    labels: frozenset[str] | None

    def sha256(self) -> str:
        text = "*" if self.labels is None else "\0".join(sorted(self.labels))
        return hashlib.sha256(text.encode()).hexdigest()


OWNER = Access(labels=None)


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
