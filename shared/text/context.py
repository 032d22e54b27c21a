"""What a block is found by: its text under the headings that say what it is about."""

from shared.types.documents import PATH_SEPARATOR, ROOT_PATH, Block

CONTEXT_VERSION = "heading-1"  # part of the lineage of every vector
TITLE_CHARS = 120
PATH_CHARS = 160


def embedded_text(content_title: str, block: Block) -> str:
    """The text that is embedded and keyword-encoded; never shown or cited.

    One line of context (title › section), then the repeated table header if there is one, then the block.
    A long path keeps its end: the nearest heading says most.
    """
    parts = (_context(content_title, block.section_path), block.table_header.strip(), block.text)
    return "\n".join(part for part in parts if part)


def _context(title: str, section_path: str) -> str:
    title = " ".join(title.split())
    headings = (
        [] if section_path == ROOT_PATH else [" ".join(part.split()) for part in section_path.split(PATH_SEPARATOR)]
    )
    if headings and headings[0] == title:  # a document's only top heading is often its title
        headings = headings[1:]
    path = PATH_SEPARATOR.join(heading for heading in headings if heading)
    return PATH_SEPARATOR.join(part for part in (title[:TITLE_CHARS], path[-PATH_CHARS:]) if part)
