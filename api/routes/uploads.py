"""Files that come in a multipart body: straight into the content store, whatever their size."""

import asyncio
import re
import unicodedata
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import msgspec
from msgspec import Struct
from multipart import MultipartError, MultipartSegment, ParserLimitReached, PushMultipartParser

from api.routes.access import AnyRequest
from api.routes.bodies import decode, pieces
from shared.blobs import Blobs, Receiver
from shared.errors import InvalidArgument, TooLarge
from shared.settings import ApiSettings
from shared.types.imports import ImportMode, ImportRequest, SourceSpec, Upload

MAX_FILES = 10_000
MAX_NAME_BYTES = 1_024
_FORM_BYTES = 4_096  # around a file that comes alone
_FEW = 4  # fields of a form with one file
_FEED_BYTES = 256 * 1024  # parsed and written in a thread, this much at a time
_FILE_FIELDS = frozenset({"file", "files"})
_DRIVE = re.compile(r"[A-Za-z]:")
_LISTS = frozenset({"aliases", "access", "tags"})


class _Form(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields beside the files, as the JSON form of an import has them."""

    mode: ImportMode = "add"
    activate: bool = True
    source: SourceSpec = SourceSpec()


_source = msgspec.json.Decoder(SourceSpec)


async def receive_upload(request: AnyRequest, blobs: Blobs, settings: ApiSettings) -> ImportRequest:
    """Read a multipart body to its end.

    Raises: TooLarge; InvalidArgument for a broken body, a file name that leads elsewhere, the same name twice; StorageError; AskerGone.
    """
    _, options = request.content_type
    intake = Intake(blobs, boundary=options.get("boundary", ""), max_field_bytes=settings.max_body_bytes)
    try:
        waiting = bytearray()
        async for piece in pieces(request, settings.max_upload_bytes):
            waiting += piece
            if len(waiting) >= _FEED_BYTES:
                await asyncio.to_thread(intake.feed, bytes(waiting))
                waiting.clear()
        await asyncio.to_thread(intake.feed, bytes(waiting))
        return intake.finish()
    finally:
        await asyncio.to_thread(intake.close)


async def receive_file(request: AnyRequest, max_bytes: int) -> tuple[str, bytes]:
    """The name and content of the one file that a form holds, in memory; ("", b"") when none was chosen.

    Raises: TooLarge, InvalidArgument for a broken body, AskerGone.
    """
    _, options = request.content_type
    body = b"".join([piece async for piece in pieces(request, max_bytes + _FORM_BYTES)])
    return await asyncio.to_thread(_only_file, body, options.get("boundary", ""))


def _only_file(body: bytes, boundary: str) -> tuple[str, bytes]:
    name, content = "", bytearray()
    inside = False
    with _broken_body():
        parser = PushMultipartParser(boundary, max_segment_count=_FEW)
        for event in parser.parse(body) if body else ():
            if isinstance(event, MultipartSegment):
                inside = event.filename is not None and not name
                name = (event.filename or "") if inside else name
            elif event is not None and inside:
                content += event
        parser.close()
    return name, bytes(content)


class Intake:
    """A multipart body being taken apart. Blocking; one thread at a time."""

    def __init__(self, blobs: Blobs, *, boundary: str, max_field_bytes: int) -> None:
        with _broken_body():
            self._parser = PushMultipartParser(boundary, max_segment_count=MAX_FILES)
        self._blobs = blobs
        self._max_field_bytes = max_field_bytes
        self._part = ExitStack()  # what must be undone if the part in hand never ends
        self._segment: MultipartSegment | None = None
        self._receiver: Receiver | None = None
        self._text = bytearray()
        self._fields: dict[str, str] = {}
        self._uploads: dict[str, Upload] = {}

    def feed(self, data: bytes) -> None:
        with _broken_body():
            for event in self._parser.parse(data) if data else ():
                if isinstance(event, MultipartSegment):
                    self._begin(event)
                elif event is None:
                    self._end()
                else:
                    self._take(bytes(event))

    def finish(self) -> ImportRequest:
        with _broken_body():
            self._parser.close()
        form = self._form()
        return ImportRequest(
            mode=form.mode, uploads=tuple(self._uploads.values()), source=form.source, activate=form.activate
        )

    def close(self) -> None:
        """Drop a part that was not finished."""
        self._part.close()

    def _begin(self, segment: MultipartSegment) -> None:
        self._segment = segment
        if segment.filename is None:
            return
        if segment.name not in _FILE_FIELDS:
            raise InvalidArgument(f"Files belong into the field `files`, not {segment.name!r}.", field=segment.name)
        self._receiver = self._part.enter_context(self._blobs.receiving())

    def _take(self, data: bytes) -> None:
        if self._receiver is not None:
            self._receiver.write(data)
            return
        self._text += data
        if len(self._text) > self._max_field_bytes:
            raise TooLarge(f"A field is larger than {self._max_field_bytes} bytes.")

    def _end(self) -> None:
        segment = self._segment
        assert segment is not None
        if self._receiver is not None:
            self._add_file(segment.filename or "", *self._receiver.finish())
        else:
            name = segment.name or ""
            self._fields[name] = _text(name, bytes(self._text))
        self._part.close()
        self._receiver, self._segment = None, None
        self._text.clear()

    def _add_file(self, given: str, sha256: str, size_bytes: int) -> None:
        name = safe_name(given)
        if name in self._uploads:
            raise InvalidArgument(f"Two files are called {name}. Give them different names.", field="files")
        self._uploads[name] = Upload(name=name, sha256=sha256, size_bytes=size_bytes)

    def _form(self) -> _Form:
        fields = dict(self._fields)
        source = decode(fields.pop("source").encode(), _source, within="source") if "source" in fields else SourceSpec()
        own = {name: fields.pop(name) for name in SourceSpec.__struct_fields__ if name in fields}
        try:
            return msgspec.convert(
                fields | {"source": msgspec.to_builtins(source) | {name: _listed(name, own[name]) for name in own}},
                _Form,
                strict=False,
            )
        except msgspec.ValidationError as error:
            raise InvalidArgument(f"A field of the form won't do: {error}.", field="form") from error


def safe_name(given: str) -> str:
    """A file's name inside its import: relative, forward slashes, NFC.

    Raises: InvalidArgument for one that leads out of its folder or holds control characters.
    """
    name = unicodedata.normalize("NFC", given.replace("\\", "/"))
    parts = [part for part in name.split("/") if part not in ("", ".")]
    leads_out = name.startswith("/") or ".." in parts or _DRIVE.match(name) is not None
    if leads_out or not parts or any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise InvalidArgument(
            f"{given!r} can't be a file's name here. Use a relative one, without `..` and control characters.",
            field="files",
        )
    if len(name.encode()) > MAX_NAME_BYTES:
        raise InvalidArgument(f"A file's name is longer than {MAX_NAME_BYTES} bytes: {name[:60]}…", field="files")
    return "/".join(parts)


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"The field {name} is not UTF-8.", field=name) from error


def _listed(name: str, value: str) -> Any:
    """A list as a form field: parts separated by commas."""
    return [part.strip() for part in value.split(",") if part.strip()] if name in _LISTS else value


@contextmanager
def _broken_body() -> Generator[None]:
    """Translate the parser's complaints."""
    try:
        yield
    except ParserLimitReached as error:
        raise TooLarge(f"The form has too many or too large parts: {error}.") from error
    except MultipartError as error:
        raise InvalidArgument(f"The body is not valid multipart/form-data: {error}.", field="body") from error
