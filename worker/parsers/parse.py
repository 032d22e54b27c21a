"""One file to Parsed: what the child runs. Looks at the content, picks the format's module, cleans what comes back."""

from pathlib import Path, PurePosixPath

from shared.errors import DocumentError
from worker.parsers import markdown, plain
from worker.parsers.clean import clean
from worker.parsers.encoding import decode
from worker.parsers.types import Element, Parsed


def parse_file(path: Path, *, name: str) -> Parsed:
    """Raises: DocumentError."""
    data = path.read_bytes()
    if not data.strip():
        raise DocumentError("empty", "The file is empty.")
    text, encoding = decode(data)
    text = clean(text)
    stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix.lower()
    if suffix in (".md", ".markdown"):
        elements, title, media_type = markdown.elements_of(text), markdown.title_of(text), "text/markdown"
    elif suffix in ("", ".txt", ".text"):
        elements, title, media_type = plain.elements_of(text), None, "text/plain"
    else:
        raise DocumentError("unsupported", f"Files of the kind {suffix} can't be read yet.")
    if not elements:
        raise DocumentError("empty", "The file has no text.")
    return Parsed(
        title=title or _top_heading(elements) or stem, media_type=media_type, elements=elements, encoding=encoding
    )


def _top_heading(elements: tuple[Element, ...]) -> str | None:
    return next((one.title or one.text for one in elements if one.kind == "heading" and one.level == 1), None)
