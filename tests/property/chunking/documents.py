"""Random documents for the chunker: Chinese and English, emoji, combining marks, tables, code, deep and equal headings."""

from hypothesis import strategies as st

from shared.ids import DocId
from shared.types.documents import Block, DocumentContent
from worker.parsers import Element, Parsed
from worker.parsers.types import ElementKind
from worker.stages.chunk import chunk

DOC = DocId("k3f9a2qd")
_SENTENCES = (
    "装配车间实行三班制：早班06:00—14:00。",
    "夜班津贴为每班人民币76元，次月发放！",
    "Overtime must be requested before 17:30 on the same day. ",
    "See e.g. version 2.3.1 of https://example.org/a.b?c=d. ",
    "家庭👨‍👩‍👧‍👦与国旗🇨🇳🇩🇪，肤色👍🏽。",
    "Cafe\u0301 nai\u0308ve हिन्दी ภาษาไทย. ",
    "没有标点也没有空格的一长串汉字" * 12,
    "x" * 90,
    "第一行\r\n第二行\r\n",
    "|||---|||",
)
_sentence = st.one_of(st.sampled_from(_SENTENCES), st.text(min_size=1, max_size=30))
_prose = st.lists(_sentence, min_size=1, max_size=12).map("".join)
_row = st.lists(
    st.sampled_from(("事假", "15", "0%", "直属主管", "a longer cell with words", "")), min_size=1, max_size=5
).map(" | ".join)
_table = st.lists(_row, min_size=1, max_size=40).map("\n".join)
_code = st.lists(
    st.sampled_from(("def f(x):", "    return x  # 返回", "", "# 标题不是标题", "```")), min_size=1, max_size=60
).map("\n".join)
_title = st.sampled_from(("总则", "附表", "Notes", "/", "a › b", "  空 格  ", "长" * 300, "总则 (2)"))


@st.composite
def elements(draw: st.DrawFn) -> Element:
    kind: ElementKind = draw(st.sampled_from(("heading", "paragraph", "paragraph", "list_item", "table", "code")))
    match kind:
        case "heading":
            return Element(kind=kind, text=draw(_title), level=draw(st.integers(1, 20)), page=draw(_page))
        case "table":
            return Element(kind=kind, text=draw(_table), header_rows=draw(st.integers(0, 3)), page=draw(_page))
        case "code":
            return Element(kind=kind, text=draw(_code), tight=draw(st.booleans()))
        case "paragraph" | "list_item":
            return Element(kind=kind, text=draw(_prose), tight=draw(st.booleans()), page=draw(_page))


_page = st.one_of(st.none(), st.integers(1, 9))
documents = st.lists(elements(), min_size=1, max_size=25).filter(lambda made: any(one.text.strip() for one in made))


def parsed(*made: Element) -> Parsed:
    return Parsed(title="考勤办法", media_type="text/markdown", elements=made)


def cut(*made: Element, target_tokens: int = 40, max_tokens: int = 64) -> DocumentContent:
    return chunk(parsed(*made), doc_id=DOC, version=1, target_tokens=target_tokens, max_tokens=max_tokens)


def blocks_of(content: DocumentContent, path: str) -> list[Block]:
    return [block for block in content.blocks if block.section_path == path]
