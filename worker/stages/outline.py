"""From headings to sections with unique paths. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from shared.types.documents import PATH_SEPARATOR, ROOT_PATH
from worker.parsers.types import Element

MAX_DEPTH = 12  # deeper headings become siblings; no real document is meant so
TITLE_CHARS = 120


class Outlined(Struct, frozen=True, kw_only=True):
    ordinal: int
    parent: int | None
    path: str
    title: str
    depth: int
    elements: tuple[int, int]  # range of element positions, its heading first


def outline(elements: Sequence[Element]) -> list[Outlined]:
    """Sections in document order; every element is in exactly one. The root section is there only for text above the first heading.

    The root section encloses nothing: sections at depth 1 have no parent.
    """
    starts = [at for at, element in enumerate(elements) if element.kind == "heading"]
    sections: list[Outlined] = []
    if elements and (not starts or starts[0] > 0):
        end = starts[0] if starts else len(elements)
        sections.append(Outlined(ordinal=0, parent=None, path=ROOT_PATH, title="", depth=0, elements=(0, end)))
    names = _Names()
    open_sections: list[tuple[int, Outlined]] = []  # with their levels, which grow
    for start, end in zip(starts, [*starts[1:], len(elements)], strict=False):
        heading = elements[start]
        while open_sections and (open_sections[-1][0] >= heading.level or len(open_sections) >= MAX_DEPTH):
            open_sections.pop()
        parent = open_sections[-1][1] if open_sections else None
        title = section_title(heading)
        section = Outlined(
            ordinal=len(sections),
            parent=parent.ordinal if parent else None,
            path=names.unique(parent.path if parent else None, title),
            title=title,
            depth=len(open_sections) + 1,
            elements=(start, end),
        )
        sections.append(section)
        open_sections.append((heading.level, section))
    return sections


def section_title(heading: Element) -> str:
    """One line, of a sane length."""
    title = " ".join((heading.title or heading.text).split())
    return title if len(title) <= TITLE_CHARS else title[: TITLE_CHARS - 1].rstrip() + "…"


class _Names:
    def __init__(self) -> None:
        self._taken = {ROOT_PATH}
        self._next: dict[str, int] = {}

    def unique(self, parent: str | None, title: str) -> str:
        step = title.replace(PATH_SEPARATOR.strip(), ">")  # a title must not look like two steps
        wanted = path = step if parent is None else f"{parent}{PATH_SEPARATOR}{step}"
        number = self._next.get(wanted, 2)
        while path in self._taken:
            path = f"{wanted} ({number})"
            number += 1
        self._next[wanted] = number
        self._taken.add(path)
        return path
