"""E-mail (RFC 5322), by the standard library: its headers, its text, and the documents attached to it."""

import email.policy
from collections.abc import Callable, Iterator
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser

from msgspec.structs import replace

from shared.errors import DocumentError
from worker.parsers import html, plain
from worker.parsers.clean import readable
from worker.parsers.encoding import decode
from worker.parsers.source import File
from worker.parsers.types import Element, Parsed

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")

ReadAttachment = Callable[[File], Parsed]


def read_with(file: File, read_attachment: ReadAttachment) -> Parsed:
    """`read_attachment`: for the documents inside; what it can't read is only named. Raises: encrypted."""
    message = BytesParser(EmailMessage, policy=email.policy.default).parsebytes(file.data)
    if message.get_content_type() == "multipart/encrypted" or message.get_content_type() == "application/pkcs7-mime":
        raise DocumentError("encrypted", "The message is encrypted. Save it decrypted.")
    headers = "\n".join(f"{name}: {_header(message, name)}" for name in _SHOWN_HEADERS if _header(message, name))
    elements = [Element(kind="paragraph", text=headers), *_body(message)]
    for part in message.iter_attachments() if message.is_multipart() else ():
        elements += _attachment(part, read_attachment)
    return Parsed(title=_header(message, "Subject"), media_type="message/rfc822", elements=tuple(elements))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, AttributeError):  # the standard library stumbles over some broken headers
        return ""


def _body(message: EmailMessage) -> tuple[Element, ...]:
    body = message.get_body(preferencelist=("plain", "html"))
    if body is None:
        return ()
    text = _text(body)
    if body.get_content_type() != "text/html":
        return plain.elements_of(text)
    try:
        return html.elements_of(text)[1]
    except DocumentError:  # an empty page: the headers remain
        return ()


def _text(part: MIMEPart) -> str:
    data = part.get_payload(decode=True)
    return readable(decode(data, declared=part.get_content_charset())[0]) if isinstance(data, bytes) and data else ""


def _attachment(part: MIMEPart, read_attachment: ReadAttachment) -> Iterator[Element]:
    name = part.get_filename() or part.get_content_type()
    yield Element(kind="heading", text=name, level=1)
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return
    try:
        inner = read_attachment(File(data=data, name=name))
    except DocumentError:
        return  # its name stays; the message itself is readable
    for element in inner.elements:
        yield replace(element, level=element.level + 1) if element.kind == "heading" else element
