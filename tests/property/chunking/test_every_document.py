"""What holds for blocks and sections of every document."""

import hashlib
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.ids import block_id
from shared.text.tokens import count_tokens
from shared.types.documents import ROOT_PATH
from tests.property.chunking.documents import DOC, cut, documents
from worker.parsers import Element
from worker.stages.units import is_boundary

sizes = st.sampled_from(((8, 12), (40, 64), (256, 400)))


@settings(deadline=None)
@given(documents, sizes)
def test_blocks_rebuild_the_text_and_every_section_exactly(made: list[Element], size: tuple[int, int]) -> None:
    content = cut(*made, target_tokens=size[0], max_tokens=size[1])
    assert "".join(block.text for block in content.blocks) == content.text
    assert [(block.span_start, block.span_end) for block in content.blocks] == _spans(
        [len(b.text) for b in content.blocks]
    )
    assert [block.section_ordinal for block in content.blocks] == sorted(
        block.section_ordinal for block in content.blocks
    )
    assert {block.section_ordinal for block in content.blocks} == {section.ordinal for section in content.sections}


@settings(deadline=None)
@given(documents)
def test_the_text_holds_every_element_in_order(made: list[Element]) -> None:
    text = cut(*made).text
    reached = 0
    for element in made:
        if element.text.strip():
            reached = text.index(element.text, reached) + len(element.text)
    assert text[reached:] == ""


@settings(deadline=None)
@given(documents, sizes)
def test_no_block_is_longer_than_allowed_unless_it_is_one_character(made: list[Element], size: tuple[int, int]) -> None:
    for block in cut(*made, target_tokens=size[0], max_tokens=size[1]).blocks:
        if block.tokens > size[1]:
            body = block.text.strip()
            assert not any(is_boundary(body, at) for at in range(1, len(body)))


@settings(deadline=None)
@given(documents)
def test_no_block_is_blank_or_begins_inside_a_character(made: list[Element]) -> None:
    content = cut(*made, target_tokens=8, max_tokens=12)
    for block in content.blocks:
        assert block.text.strip()
        if block.span_start:
            assert unicodedata.category(content.text[block.span_start])[0] != "M"
            assert content.text[block.span_start - 1 : block.span_start + 1] != "\r\n"
            assert "\u200d" not in content.text[block.span_start - 1 : block.span_start + 1]


@settings(deadline=None)
@given(documents)
def test_indices_ids_counts_and_hashes_agree(made: list[Element]) -> None:
    for index, block in enumerate(cut(*made).blocks):
        assert (block.index, block.block_id) == (index, block_id(DOC, 1, index))
        assert block.tokens == count_tokens(block.text)
        assert block.sha256 == hashlib.sha256(block.text.encode("utf-8", "surrogatepass")).hexdigest()


@settings(deadline=None)
@given(documents)
def test_sections_have_unique_paths_and_sums_that_agree(made: list[Element]) -> None:
    content = cut(*made)
    sections, blocks = content.sections, content.blocks
    assert len({section.path for section in sections}) == len(sections)
    assert [section.ordinal for section in sections] == list(range(len(sections)))
    for section in sections:
        own = [block for block in blocks if block.section_ordinal == section.ordinal]
        children = [child for child in sections if child.parent == section.ordinal]
        assert (section.own_blocks, section.own_tokens) == (len(own), sum(block.tokens for block in own))
        assert section.subtree_blocks == section.own_blocks + sum(child.subtree_blocks for child in children)
        assert section.subtree_tokens == section.own_tokens + sum(child.subtree_tokens for child in children)
        parent = sections[section.parent].depth if section.parent is not None else 0
        assert section.depth == (0 if section.path == ROOT_PATH else parent + 1)


@settings(deadline=None)
@given(documents)
def test_text_above_the_first_heading_and_nothing_else_is_in_the_root_section(made: list[Element]) -> None:
    content = cut(*made)
    first = next(element for element in made if element.text.strip())
    roots = [section for section in content.sections if section.path == ROOT_PATH]
    assert [root.ordinal for root in roots] == ([] if first.kind == "heading" else [0])


def _spans(lengths: list[int]) -> list[tuple[int, int]]:
    ends = [sum(lengths[: at + 1]) for at in range(len(lengths))]
    return list(zip([0, *ends[:-1]], ends, strict=True))
