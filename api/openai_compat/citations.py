"""An answer's citations in every form that some client shows: a list in the text, annotations, our own object. Pure."""

import re
from collections.abc import Callable
from typing import Final

from api.links import BlockLinks
from api.openai_compat.shapes import Annotation, Cited, Extra, UrlCitation
from shared.access import Access
from shared.text.lang import detect_lang
from shared.types.documents import PATH_SEPARATOR, ROOT_PATH
from shared.types.runs import Answer, Citation
from shared.unchecked import unchecked

# headings by which conversation.py knows what we appended
SOURCES: Final = {"zh": "来源", "en": "Sources"}
ABOUT: Final = {"zh": "关于此回答", "en": "About this answer"}  # above limitations where there are no sources

BlockUrl = Callable[[Citation], str]  # absolute address of the block's page

_MARK = re.compile(r"\[(\d{1,9})\]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#!])")


def block_url(origin: str, links: BlockLinks, access: Access) -> BlockUrl:
    """`origin`: scheme://host:port of this server, as the client reached it. `access`: of whoever asked."""
    return lambda citation: origin + links.path(citation.block_id, citation.snapshot_id, access)


def footer(answer: Answer, url: BlockUrl) -> str:
    """What follows the answer's text: the sources as a Markdown list with links, then the sentences that could not be checked, and
    what the answer can't vouch for: a sentence that its source does not support is named there."""
    chinese = detect_lang(answer.question) == "zh"
    listed = "\n".join(_listed(one, url, chinese) for one in answer.citations)
    sources = f"\n\n**{SOURCES['zh' if chinese else 'en']}**\n\n{listed}" if listed else ""
    told = (*unchecked(answer, lang="zh" if chinese else "en"), *(one.text for one in answer.limitations))
    limits = "\n".join(f"> {_escaped(one)}" for one in told)
    heading = "" if sources or not limits else f"\n\n**{ABOUT['zh' if chinese else 'en']}**"
    return sources + heading + (f"\n\n{limits}" if limits else "")


def annotations(answer: Answer, url: BlockUrl) -> tuple[Annotation, ...]:
    """One for each mark [n] in the text that stands for a citation, in order."""
    by_marker = {one.marker: one for one in answer.citations}
    return tuple(
        Annotation(
            url_citation=UrlCitation(url=url(cited), title=cited.title, start_index=mark.start(), end_index=mark.end())
        )
        for mark in _MARK.finditer(answer.text)
        if (cited := by_marker.get(int(mark.group(1)))) is not None
    )


def extra(answer: Answer, url: BlockUrl) -> Extra:
    return Extra(
        run_id=answer.run_id,
        status=answer.status,
        termination_reason=answer.termination_reason,
        snapshot_id=answer.snapshot_id,
        snapshot=answer.snapshot,
        citations=tuple(
            Cited(
                marker=one.marker,
                block_id=one.block_id,
                title=one.title,
                source_label=one.source_label,
                section_path=one.section_path,
                page_first=one.page_first,
                page_last=one.page_last,
                quote=one.quote,
                verdict=one.verdict,
                problem=one.problem,
                url=url(one),
            )
            for one in answer.citations
        ),
        claims=answer.claims,
        limitations=answer.limitations,
        embedding_tokens=answer.usage.embedding_tokens,
        rerank_tokens=answer.usage.rerank_tokens,
        estimated=answer.usage.estimated,
    )


def _listed(citation: Citation, url: BlockUrl, chinese: bool) -> str:
    return f"{citation.marker}. [{_place(citation, chinese)}]({url(citation)})"


def _place(citation: Citation, chinese: bool) -> str:
    title, section = citation.title, citation.section_path
    if section in (ROOT_PATH, title):
        where = title
    elif section.startswith(title + PATH_SEPARATOR):  # the first heading is the title, as in most documents
        where = section
    else:
        where = title + PATH_SEPARATOR + section
    return _escaped(where) + _pages(citation, chinese)


def _pages(citation: Citation, chinese: bool) -> str:
    first, last = citation.page_first, citation.page_last
    if first is None:
        return ""
    pages = str(first) if last in (None, first) else f"{first}–{last}"
    return f"，第 {pages} 页" if chinese else f", p. {pages}"


def _escaped(text: str) -> str:
    """A title or a missing file's name is a stranger's text: it must not open a link, an image or a tag of its own."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
