"""E-books: the chapters of the spine, each read as HTML."""

import posixpath
from urllib.parse import unquote

from shared.errors import DocumentError
from worker.parsers import html
from worker.parsers.archive import Archive
from worker.parsers.clean import readable
from worker.parsers.encoding import decode
from worker.parsers.source import File
from worker.parsers.types import Element, Parsed

_TEXT = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read(file: File) -> Parsed:
    archive = Archive(file.data)
    if "META-INF/encryption.xml" in archive.names and "META-INF/rights.xml" in archive.names:
        raise DocumentError("encrypted", "The e-book is locked to a reader (DRM).")
    package_path = _package_path(archive)
    package = archive.xml(package_path)
    items = {node.get("id"): node for node in package.iterfind(".//{*}manifest/{*}item")}
    elements: list[Element] = []
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _TEXT or "nav" in (item.get("properties") or "").split():
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(package_path), unquote(item.get("href") or "")))
        if path in archive.names:
            elements += _chapter(archive.read(path))
    title = package.findtext(".//{*}metadata/{http://purl.org/dc/elements/1.1/}title") or ""
    return Parsed(title=title, media_type="application/epub+zip", elements=tuple(elements))


def _package_path(archive: Archive) -> str:
    container = archive.xml("META-INF/container.xml")
    root = container.find(".//{*}rootfile")
    if root is None:
        raise DocumentError("corrupt", "The e-book is damaged: it does not name its contents.")
    return root.get("full-path") or ""


def _chapter(data: bytes) -> tuple[Element, ...]:
    try:
        return html.elements_of(readable(decode(data)[0]))[1]
    except DocumentError as error:
        if error.code == "empty":  # a page with nothing but its cover picture
            return ()
        raise
