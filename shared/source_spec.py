"""What an importer may say of a source, checked where it comes in: it ends up in indexes, prompts, pages and terminals."""

import re
from typing import Final

from msgspec import UNSET

from shared.access import check_labels
from shared.errors import InvalidArgument
from shared.text.unseen import unseen
from shared.types.imports import SourceSpec

MAX_CHARACTERS: Final = 200  # of one name, label or tag
MAX_ENTRIES: Final = 100  # of one list
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")


def check_spec(spec: SourceSpec, *, field: str) -> None:
    """field: where `spec` stands in the request. Raises: InvalidArgument, naming the field and the entry."""
    if spec.label:
        check_name(spec.label, field=f"{field}.label")
    for name, entries in (("aliases", spec.aliases), ("access", spec.access), ("tags", spec.tags)):
        if entries is UNSET:
            continue
        if len(entries) > MAX_ENTRIES:
            raise InvalidArgument(
                f"{field}.{name}: {len(entries)} entries are too many. Give at most {MAX_ENTRIES}.",
                field=f"{field}.{name}",
            )
        for number, entry in enumerate(entries):
            check_name(entry, field=f"{field}.{name}[{number}]")
    check_labels(spec.access or (), field=f"{field}.access")
    if spec.lang_hint and not _LANGUAGE.fullmatch(spec.lang_hint):
        raise InvalidArgument(
            f"{field}.lang_hint: {spec.lang_hint[:40]!r} is no language. Write a code such as zh, en or pt-BR.",
            field=f"{field}.lang_hint",
        )


def check_name(name: str, *, field: str) -> None:
    """Raises: InvalidArgument for one that is blank, longer than 200 characters or holds what no reader sees."""
    if not name.strip():
        raise InvalidArgument(f"{field}: it is blank. Write something, or leave it out.", field=field)
    if len(name) > MAX_CHARACTERS:
        raise InvalidArgument(
            f"{field}: {name[:40]!r}… has {len(name)} characters. Give at most {MAX_CHARACTERS}.", field=field
        )
    if (hidden := unseen(name)) is not None:
        raise InvalidArgument(
            f"{field}: {name!r} holds the invisible character U+{ord(hidden):04X}. Leave it out.", field=field
        )
