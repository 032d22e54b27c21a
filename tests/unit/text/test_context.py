import msgspec

from shared.ids import BlockId, DocId
from shared.text.context import embedded_text
from shared.types.documents import Block

BLOCK = Block(
    block_id=BlockId("aaaaaaaa.v1#0"),
    doc_id=DocId("aaaaaaaa"),
    version=1,
    index=0,
    section_ordinal=1,
    section_path="安装 › 权限",
    text="需要写权限。",
    span_start=0,
    span_end=6,
    tokens=6,
    sha256="",
)


def block(**changes: object) -> Block:
    return msgspec.structs.replace(BLOCK, **changes)


def test_a_block_is_found_under_its_title_and_headings() -> None:
    assert embedded_text("部署手册", BLOCK) == "部署手册 › 安装 › 权限\n需要写权限。"


def test_a_title_that_is_also_the_top_heading_is_said_once() -> None:
    assert embedded_text("安装", BLOCK) == "安装 › 权限\n需要写权限。"


def test_text_under_no_heading_has_the_title_only_and_without_a_title_it_stands_alone() -> None:
    assert embedded_text("部署手册", block(section_path="/")) == "部署手册\n需要写权限。"
    assert embedded_text("", block(section_path="/")) == "需要写权限。"


def test_a_cut_table_repeats_its_header() -> None:
    assert (
        embedded_text("", block(section_path="/", table_header="| 列 |\n|---|\n", text="| 1 |"))
        == "| 列 |\n|---|\n| 1 |"
    )


def test_a_long_context_keeps_the_beginning_of_the_title_and_the_nearest_heading() -> None:
    first, _, rest = embedded_text("题" * 500, block(section_path="章" * 500 + " › 权限")).partition("\n")
    assert first.startswith("题题")
    assert first.endswith("章 › 权限")
    assert len(first) < 300
    assert rest == "需要写权限。"
