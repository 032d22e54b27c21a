"""The page of a block: rendered here, no script, nothing loaded from anywhere.

Text of documents is hostile until proven otherwise: everything is escaped, and the policy forbids whatever slips through.
"""

import base64
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import jinja2

from api.retrieval.blocks import BlockView
from api.routes.languages import Lang
from shared.ids import BlockId
from shared.types.documents import ROOT_PATH, Trust

_TEMPLATES = Path(__file__).with_name("templates")
STYLE = (_TEMPLATES / "block.css").read_text(encoding="utf-8")
_STYLE_SHA256 = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

CONTENT_SECURITY_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_SHA256}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

TRUST: dict[Lang, dict[Trust, str]] = {
    "en": {
        "official": "official",
        "internal": "internal",
        "third_party": "third party",
        "web": "web",
        "user_upload": "user upload",
    },
    "zh": {"official": "官方", "internal": "内部", "third_party": "第三方", "web": "网络", "user_upload": "用户上传"},
}
_WORDS: dict[Lang, dict[str, str]] = {
    "en": {
        "source": "Source",
        "file": "File",
        "section": "Section",
        "page": "Page",
        "place": "Place",
        "version": "Version",
        "updated": "Updated",
        "trust": "Trust",
        "snapshot": "Snapshot",
        "cited": "Cited block",
        "before": "Before it",
        "after": "After it",
        "outdated": "A newer version of this document is active: version {}.",
        "gone": "This document is not in the active snapshot any more.",
        "injection_suspected": "This text addresses the reader's assistant; it is shown as it stands.",
        "hidden_text_removed": "Invisible characters were removed from this text.",
        "other_language": "中文",
    },
    "zh": {
        "source": "来源",
        "file": "文件",
        "section": "章节",
        "page": "页码",
        "place": "位置",
        "version": "版本",
        "updated": "更新时间",
        "trust": "可信级别",
        "snapshot": "快照",
        "cited": "被引用的文本块",
        "before": "上文",
        "after": "下文",
        "outdated": "该文档已有更新的版本：第 {} 版。",
        "gone": "该文档已不在当前快照中。",
        "injection_suspected": "这段文字像是在对助手下指令，此处原样显示。",
        "hidden_text_removed": "这段文字中的不可见字符已被移除。",
        "other_language": "English",
    },
}
templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(_TEMPLATES),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_page = templates.get_template("block.html.j2")


def render(view: BlockView, *, lang: Lang, switch: Callable[[Lang], str], url: Callable[[BlockId], str] | None) -> str:
    """`switch`: the address of this page in another language. `url`: of another block's page; None = not for this reader."""
    other: Lang = "en" if lang == "zh" else "zh"
    words = _WORDS[lang]
    document, block = view.document, view.block
    pages = [page for page in (block.page_first, block.page_last) if page is not None]
    return _page.render(
        lang=lang,
        other=other,
        switch=switch(other),
        style=STYLE,
        words=words,
        view=view,
        facts=[
            (words["source"], document.source_label),
            (words["file"], "" if document.key == document.title else document.key),
            (words["section"], "" if view.section.path == ROOT_PATH else view.section.path),
            (words["page"], "–".join(map(str, dict.fromkeys(pages)))),
            (words["place"], place(block.span_start, block.span_end, lang=lang)),
            (words["version"], str(document.version)),
            (words["updated"], utc(document.updated_at_ms)),
            (words["trust"], TRUST[lang][document.trust]),
            (words["snapshot"], view.snapshot_id),
        ],
        notice=_notice(view, words),
        flags=[words[flag] for flag in block.flags if flag in words],
        url=url,
    )


def place(span_start: int, span_end: int, *, lang: Lang) -> str:
    """Where a block stands in its document's text, counted as people do. The span: code points, the end not in it."""
    first, last = f"{span_start + 1:,}", f"{span_end:,}"
    return f"正文第 {first}–{last} 个字符" if lang == "zh" else f"characters {first}–{last} of the text"


def utc(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _notice(view: BlockView, words: dict[str, str]) -> str | None:
    if view.in_active_snapshot:
        return None
    return words["gone"] if view.active_version is None else words["outdated"].format(view.active_version)
