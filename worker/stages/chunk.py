"""Elements to sections and blocks: a pure function.

The canonical text is the elements' texts joined by line ends; blocks tile it, so a section's blocks joined are that section.
"""

import hashlib
from collections.abc import Sequence

from msgspec import Struct

from shared.errors import DocumentError
from shared.ids import DocId, block_id
from shared.text.lang import detect_lang
from shared.text.sentences import sentences
from shared.text.tokens import count_tokens
from shared.types.documents import Block, BlockFlag, DocumentContent, Section
from worker.parsers.types import Element, Parsed
from worker.stages.outline import Outlined, outline
from worker.stages.units import CountTokens, Cutter, Unit

CHUNKER_VERSION = "2"  # raise it when any block, section or path comes out differently: it is part of the lineage
SENTENCE_CHARS = 200  # of a section's first sentence in its outline
_TINY = 4  # a last block below a quarter of the target joins its neighbour


def chunk(
    parsed: Parsed,
    *,
    doc_id: DocId,
    version: int,
    target_tokens: int,
    max_tokens: int,
    lang_hint: str | None = None,
    count: CountTokens = count_tokens,
) -> DocumentContent:
    """`target_tokens` <= `max_tokens`; a block is longer only if it is one character with its marks, which nobody can cut.

    Raises: empty. Source: spec/03 "From elements to blocks".
    """
    elements = [element for element in parsed.elements if element.text.strip()]
    if not elements:
        raise DocumentError("empty", "The document has no text.")
    text, spans = _lay_out(elements)
    cutter = Cutter(text=text, max_tokens=max_tokens, count=count)
    outlined = outline(elements)
    blocks: list[Block] = []
    for section in outlined:
        units = _units(cutter, section, elements, spans)
        for group in _pack(units, cutter, target_tokens=target_tokens):
            blocks.append(_block(group, cutter, section, doc_id=doc_id, version=version, index=len(blocks)))
    return DocumentContent(
        title=parsed.title,
        lang=lang_hint or detect_lang(text),
        media_type=parsed.media_type,
        pages=parsed.pages,
        text=text,
        sections=_sections(outlined, blocks, [_first_sentence(section, elements) for section in outlined]),
        blocks=tuple(blocks),
    )


def _lay_out(elements: Sequence[Element]) -> tuple[str, list[tuple[int, int]]]:
    """The canonical text and each element's span in it, with the line ends behind it."""
    gaps = ["\n" if following.tight else "\n\n" for following in elements[1:]] + [""]
    pieces = [element.text + gap for element, gap in zip(elements, gaps, strict=True)]
    spans: list[tuple[int, int]] = []
    start = 0
    for piece in pieces:
        spans.append((start, start + len(piece)))
        start += len(piece)
    return "".join(pieces), spans


def _units(
    cutter: Cutter, section: Outlined, elements: Sequence[Element], spans: Sequence[tuple[int, int]]
) -> list[Unit]:
    units: list[Unit] = []
    room = cutter.max_tokens
    for position in range(*section.elements):
        of_element = cutter.units(elements[position], *spans[position], room_tokens=room)
        units += of_element
        is_heading = elements[position].kind == "heading" and len(of_element) == 1
        room = cutter.max_tokens - (of_element[0].tokens if is_heading else 0)
    return units


class _Group(Struct):
    """Units that become one block."""

    units: list[Unit]
    tokens: int  # the units' sum and the table header above them: an estimate of the joined text's count

    @property
    def is_heading(self) -> bool:
        return all(unit.element.kind == "heading" for unit in self.units)


def _pack(units: Sequence[Unit], cutter: Cutter, *, target_tokens: int) -> list[list[Unit]]:
    groups: list[_Group] = []
    for unit in units:
        if groups and _belongs(groups[-1], unit, target_tokens=target_tokens, max_tokens=cutter.max_tokens):
            groups[-1].units.append(unit)
            groups[-1].tokens += unit.tokens
        else:
            groups.append(_Group(units=[unit], tokens=unit.tokens + unit.header_tokens))
    if len(groups) > 1 and groups[-1].tokens * _TINY < target_tokens:
        last = sum(unit.tokens for unit in groups[-1].units)
        if groups[-2].tokens + last <= cutter.max_tokens:
            groups[-2].units += groups.pop().units
    return [part for group in groups for part in _within_maximum(group.units, cutter)]


def _belongs(group: _Group, unit: Unit, *, target_tokens: int, max_tokens: int) -> bool:
    joined = group.tokens + unit.tokens
    if joined > max_tokens:
        return False
    return group.is_heading or abs(joined - target_tokens) < abs(group.tokens - target_tokens)


def _within_maximum(units: list[Unit], cutter: Cutter) -> list[list[Unit]]:
    """Joined text may count a token or two more than its parts: then the last parts go on alone."""
    parts: list[list[Unit]] = []
    while units:
        taken = len(units)
        while taken > 1 and cutter.count(cutter.text[units[0].start : units[taken - 1].end]) > cutter.max_tokens:
            taken -= 1
        parts.append(units[:taken])
        units = units[taken:]
    return parts


def _block(
    units: Sequence[Unit], cutter: Cutter, section: Outlined, *, doc_id: DocId, version: int, index: int
) -> Block:
    start, end = units[0].start, units[-1].end
    text = cutter.text[start:end]
    elements = [unit.element for unit in units]
    pages = [page for element in elements for page in (element.page, element.page_last) if page is not None]
    return Block(
        block_id=block_id(doc_id, version, index),
        doc_id=doc_id,
        version=version,
        index=index,
        section_ordinal=section.ordinal,
        section_path=section.path,
        text=text,
        table_header=units[0].table_header,
        page_first=min(pages, default=None),
        page_last=max(pages, default=None),
        span_start=start,
        span_end=end,
        tokens=cutter.count(text),
        sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        flags=_flags(elements),
    )


def _flags(elements: Sequence[Element]) -> tuple[BlockFlag, ...]:
    flags: set[BlockFlag] = set()
    for element in elements:
        flags.update(element.flags)
        if element.kind in ("table", "code"):
            flags.add(element.kind)
    return tuple(sorted(flags))


def _first_sentence(section: Outlined, elements: Sequence[Element]) -> str:
    for position in range(*section.elements):
        element = elements[position]
        if element.kind != "heading":
            sample = element.text[: 4 * SENTENCE_CHARS]
            start, end = sentences(sample)[0]
            sentence = " ".join(sample[start:end].split())
            return sentence if len(sentence) <= SENTENCE_CHARS else sentence[: SENTENCE_CHARS - 1] + "…"
    return ""


def _sections(
    outlined: Sequence[Outlined], blocks: Sequence[Block], first_sentences: Sequence[str]
) -> tuple[Section, ...]:
    own_blocks, own_tokens = [0] * len(outlined), [0] * len(outlined)
    for block in blocks:
        own_blocks[block.section_ordinal] += 1
        own_tokens[block.section_ordinal] += block.tokens
    subtree_blocks, subtree_tokens = own_blocks.copy(), own_tokens.copy()
    for section in reversed(outlined):  # children come after their parents
        if section.parent is not None:
            subtree_blocks[section.parent] += subtree_blocks[section.ordinal]
            subtree_tokens[section.parent] += subtree_tokens[section.ordinal]
    return tuple(
        Section(
            ordinal=section.ordinal,
            parent=section.parent,
            path=section.path,
            title=section.title,
            depth=section.depth,
            first_sentence=first_sentences[section.ordinal],
            own_blocks=own_blocks[section.ordinal],
            own_tokens=own_tokens[section.ordinal],
            subtree_blocks=subtree_blocks[section.ordinal],
            subtree_tokens=subtree_tokens[section.ordinal],
        )
        for section in outlined
    )
