"""The page of a block that is no longer here: the quote that an answer keeps of it, and the word that it is one."""

from collections.abc import Callable

from api.routes.block_page import STYLE, TRUST, place, templates, utc
from api.routes.languages import Lang
from shared.types.documents import ROOT_PATH
from shared.types.runs import StoredQuote

_WORDS: dict[Lang, dict[str, str]] = {
    "en": {
        "source": "Source",
        "section": "Section",
        "page": "Page",
        "place": "Place of its block",
        "version": "Version",
        "trust": "Trust",
        "snapshot": "Snapshot",
        "quoted": "Quoted text",
        "gone": "The snapshot that this was read from is gone. What you see is what an answer{} quoted from it; the block may have had more.",
        "of": " of {}",
        "removed": "It was removed at {}.",
        "newer": "Version {} of this document is active.",
        "other_language": "中文",
    },
    "zh": {
        "source": "来源",
        "section": "章节",
        "page": "页码",
        "place": "文本块位置",
        "version": "版本",
        "trust": "可信级别",
        "snapshot": "快照",
        "quoted": "引文",
        "gone": "原来的快照已不存在。此处是{}一个回答所保存的引文，原文本块可能更长。",
        "of": " {} 的",
        "removed": "该快照于 {} 移除。",
        "newer": "该文档当前为第 {} 版。",
        "other_language": "English",
    },
}
_page = templates.get_template("quote.html.j2")


def render_quote(quote: StoredQuote, *, lang: Lang, switch: Callable[[Lang], str]) -> str:
    """`switch`: the address of this page in another language."""
    other: Lang = "en" if lang == "zh" else "zh"
    words = _WORDS[lang]
    pages = [page for page in (quote.page_first, quote.page_last) if page is not None]
    of = "" if quote.cited_at_ms is None else words["of"].format(utc(quote.cited_at_ms))
    notices = [words["gone"].format(of)]
    if quote.snapshot_removed_at_ms is not None:
        notices.append(words["removed"].format(utc(quote.snapshot_removed_at_ms)))
    if quote.active_version is not None:
        notices.append(words["newer"].format(quote.active_version))
    return _page.render(
        lang=lang,
        other=other,
        switch=switch(other),
        style=STYLE,
        words=words,
        quote=quote,
        facts=[
            (words["source"], quote.source_label),
            (words["section"], "" if quote.section_path == ROOT_PATH else quote.section_path),
            (words["page"], "–".join(map(str, dict.fromkeys(pages)))),
            (words["place"], place(quote.span_start, quote.span_end, lang=lang)),
            (words["version"], str(quote.version)),
            (words["trust"], TRUST[lang][quote.trust]),
            (words["snapshot"], quote.snapshot_id),
        ],
        notices=notices,
    )
