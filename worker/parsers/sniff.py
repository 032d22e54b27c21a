"""What a file is, by its content; the extension only decides between kinds of text."""

import re
from typing import Literal

from shared.errors import DocumentError
from worker.parsers.archive import Archive
from worker.parsers.source import File

Format = Literal[
    "text", "markdown", "html", "pdf", "docx", "pptx", "xlsx", "csv", "epub", "eml", "rtf", "odt", "json", "xml", "code"
]

_OFFICE: dict[str, Format] = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BINARY: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"BM", "a picture (BMP)"),
    (b"II*\0", "a picture (TIFF)"),
    (b"MM\0*", "a picture (TIFF)"),
    (b"RIFF", "a picture, sound or film (RIFF)"),
    (b"ID3", "sound (MP3)"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\x1f\x8b", "a compressed archive (gzip)"),
    (b"BZh", "a compressed archive (bzip2)"),
    (b"\xfd7zXZ", "a compressed archive (xz)"),
    (b"7z\xbc\xaf", "a compressed archive (7z)"),
    (b"Rar!", "a compressed archive (RAR)"),
    (b"SQLite format 3", "a database (SQLite)"),
    (b"AT&TFORM", "a scan (DjVu)"),
    (b"BOOKMOBI", "an e-book (Mobipocket)"),
)
_LEGACY: tuple[tuple[str, str], ...] = (
    ("WordDocument", "an old Word document (.doc): save it as .docx"),
    ("PowerPoint Document", "an old PowerPoint presentation (.ppt): save it as .pptx"),
    ("Workbook", "an old Excel workbook (.xls): save it as .xlsx"),
    ("Book", "an old Excel workbook (.xls): save it as .xlsx"),
    ("__substg1.0_", "an Outlook message (.msg): save it as .eml"),
)
_CODE = (
    *(
        "py",
        "pyi",
        "js",
        "mjs",
        "ts",
        "tsx",
        "jsx",
        "java",
        "kt",
        "kts",
        "scala",
        "go",
        "rs",
        "c",
        "h",
        "cc",
        "cpp",
        "hpp",
        "cs",
    ),
    *(
        "m",
        "mm",
        "swift",
        "rb",
        "php",
        "pl",
        "lua",
        "r",
        "jl",
        "sh",
        "bash",
        "zsh",
        "ps1",
        "bat",
        "sql",
        "css",
        "scss",
        "less",
    ),
    *(
        "vue",
        "svelte",
        "dart",
        "ex",
        "exs",
        "erl",
        "hs",
        "clj",
        "ml",
        "fs",
        "vb",
        "asm",
        "yaml",
        "yml",
        "toml",
        "ini",
        "cfg",
    ),
    *("conf", "properties", "gradle", "cmake", "tf", "proto", "graphql"),
)
_BY_SUFFIX: dict[str, Format] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".ipynb"), "json"),
    **dict.fromkeys((".xml", ".rss", ".atom"), "xml"),
    **{f".{name}": "code" for name in _CODE},
}
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|table|div|meta)\b",
    re.IGNORECASE | re.DOTALL,
)
_MAIL_HEADER = re.compile(
    r"(?:Received|Return-Path|From|To|Subject|Date|MIME-Version|Message-ID|Content-Type|Delivered-To|X-[\w-]+):",
    re.IGNORECASE,
)
_SHEETS = frozenset({".xls", ".xlsx"})  # web systems export other things under these names
_LOOKED_AT = 1 << 18  # even, for UTF-16
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def sniff(file: File) -> Format:
    """Raises: empty, encrypted, corrupt, too_large, unsupported, unreadable."""
    data = file.data
    if not data.strip():
        raise DocumentError("empty", "The file is empty.")
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _in_zip(Archive(data))
    if data.startswith(_OLE):
        raise _legacy(data)
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if (what := _binary(data)) is not None:
        raise DocumentError("unsupported", f"This is {what}, not a document with text.")
    return _text_kind(file)


def _in_zip(archive: Archive) -> Format:
    names = set(archive.names)
    if "mimetype" in names:
        match archive.read("mimetype").strip():
            case b"application/epub+zip":
                return "epub"
            case b"application/vnd.oasis.opendocument.text":
                return "odt"
            case other:
                raise DocumentError("unsupported", f"Documents of the kind {other[:80]!r} can't be read.")
    if "[Content_Types].xml" in names:
        for folder, kind in _OFFICE.items():
            if any(name.startswith(folder) for name in names):
                if kind == "xlsx" and "xl/workbook.bin" in names:
                    raise DocumentError("unsupported", "This is a binary Excel workbook (.xlsb): save it as .xlsx.")
                return kind
    if "META-INF/container.xml" in names:
        return "epub"
    raise DocumentError("unsupported", "This is a zip archive: import the documents in it.")


def _legacy(data: bytes) -> DocumentError:
    def holds(entry: str) -> bool:  # directory entries of the container are named in UTF-16
        return entry.encode("utf-16-le") in data

    if holds("EncryptedPackage"):
        return DocumentError("encrypted", "The file is protected with a password. Save it without one.")
    what = next((what for entry, what in _LEGACY if holds(entry)), "an old Office file: save it in a newer format")
    return DocumentError("unsupported", f"This is {what}.")


def _binary(data: bytes) -> str | None:
    for magic, what in _BINARY:
        if data.startswith(magic) and not (len(magic) == 2 and _CONTROLS.search(data[:512].decode("latin-1")) is None):
            return what
    return "a film or sound (MP4)" if data[4:8] == b"ftyp" else None


def _text_kind(file: File) -> Format:
    if file.suffix == ".eml" or _is_mail(file.data[:2000].decode("latin-1")):
        return "eml"  # its parts may be in several encodings: not one text
    start = File(data=file.data[:_LOOKED_AT], name=file.name).text()[0]
    named = _BY_SUFFIX.get(file.suffix)
    if named is not None and (named != "xml" or not _HTML_START.match(start)):
        return named
    if _HTML_START.match(start):
        return "html"
    if start.lstrip().startswith("<?xml"):
        return "xml"
    if file.suffix in _SHEETS and re.search(r"[,;\t|]", start.partition("\n")[0]):
        return "csv"
    return "text"


def _is_mail(start: str) -> bool:
    headers = sum(1 for line in start.split("\n")[:12] if _MAIL_HEADER.match(line))
    return headers >= 3 and _MAIL_HEADER.match(start) is not None
