"""Talking to the running API over HTTP: where it is, typed replies, problems as CommandFailed."""

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec
from msgspec import Struct

from scripts.citebound.failure import FAILED, UNREACHABLE, USAGE, CommandFailed
from scripts.citebound.supervisor.instance import is_alive, read_instance
from shared.layout import Layout
from shared.llm.sse import EventParser
from shared.loopback import is_address, leads_to_loopback
from shared.settings_load import data_folder, load_settings
from shared.wire.endpoint import check_proxies

T = TypeVar("T")
_MOST_EVENT = 256 * 1024 * 1024  # bytes: far above an answer with all its citations
URL = "CITEBOUND_URL"
START_IT = "start it with ./scripts/run, or name another one with --url or CITEBOUND_URL"
NAME_THE_KEY = (
    "set CITEBOUND_API_API_KEY here to the key that server was started with, or to one made with ./scripts/run keys add"
)

_REMEDIES = {  # what the server advises speaks of headers, fields and addresses
    "unauthorized": NAME_THE_KEY,
    "invalid_argument": "correct it and try again; the command with --help behind it says what it takes",
    "scope_not_found": "see ./scripts/run documents for what there is",
    "rate_limited": "wait a minute, or ask whoever gave you the key for more requests a minute",
}


class Problem(Struct, frozen=True, kw_only=True):
    """RFC 9457, as far as a person needs it."""

    title: str = ""
    detail: str = ""
    code: str = "unknown"
    remedy: str | None = None
    field: str | None = None


class Api:
    """One API at `base_url`; a key is sent as a bearer token."""

    def __init__(self, base_url: str, *, key: str | None) -> None:
        """Raises: SettingsError: a proxy is named that can't be gone through."""
        self.base_url = base_url
        self.is_local = leads_to_loopback(base_url)
        self._has_key = key is not None
        if not self.is_local:
            check_proxies()
        self._client = httpx.Client(
            base_url=base_url,
            headers={} if key is None else {"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(60, connect=5),
            trust_env=not self.is_local,  # a proxy has no business between this machine and itself
        )

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, type: type[T], **query: str | Sequence[str]) -> T:
        with self._reaching():
            return _decoded(self._client.get(path, params=query or None), type)

    def post(self, path: str, body: Any, type: type[T], *, timeout_s: float = 60) -> T:
        with self._reaching():
            return _decoded(self._client.post(path, json=body, timeout=timeout_s), type)

    def put(self, path: str, body: Any, type: type[T]) -> T:
        with self._reaching():
            return _decoded(self._client.put(path, json=body), type)

    def delete(self, path: str, type: type[T]) -> T:
        with self._reaching():
            return _decoded(self._client.delete(path), type)

    def upload(self, path: str, files: list[tuple[str, Path]], fields: Mapping[str, str], type: type[T]) -> T:
        """Multipart; files: (name inside the import, file on this machine). Streams: nothing is read whole into memory."""
        opened = [("files", (name, file.open("rb"), "application/octet-stream")) for name, file in files]
        try:
            with self._reaching():
                return _decoded(self._client.post(path, data=dict(fields), files=opened, timeout=None), type)
        finally:
            for _, (_, handle, _) in opened:
                handle.close()

    def page_of(self, block_id: str, snapshot_id: str) -> str:
        """The address of a block's page, which a browser opens without a key."""
        path = f"/api/blocks/{segment(block_id)}?{urlencode({'snapshot': snapshot_id})}"
        if self._has_key:  # the server signs it
            with self._reaching():
                reply = self._client.get(path)
            path = reply.links.get("alternate", {}).get("url", path)
        return self.base_url + path

    def events(self, path: str, body: Any) -> Generator[str]:
        """The `data` of each server-sent event, comments left out; closing the generator ends the request."""
        headers = {"Accept": "text/event-stream"}
        with self._reaching(), self._client.stream("POST", path, json=body, headers=headers) as reply:
            if not reply.is_success:
                reply.read()
                raise _problem(reply)
            # httpx's own lines also end at U+2028 and U+0085, which JSON may hold
            parser = EventParser(most_bytes=_MOST_EVENT)
            for piece in reply.iter_bytes():
                for data in parser.feed(piece):
                    yield data.decode(errors="replace")

    @contextmanager
    def _reaching(self) -> Generator[None]:
        try:
            yield
        except httpx.ConnectError as error:
            raise CommandFailed(
                f"nothing answers at {self.base_url}", remedy=START_IT, code=UNREACHABLE, error="unreachable"
            ) from error
        except httpx.TimeoutException as error:
            raise CommandFailed(
                f"{self.base_url} did not answer in time", remedy="look at ./scripts/run doctor", error="timeout"
            ) from error
        except httpx.TransportError as error:
            raise CommandFailed(
                f"the connection to {self.base_url} broke ({type(error).__name__})",
                remedy="look whether it still runs: ./scripts/run doctor",
                error="interrupted",
            ) from error
        except httpx.DecodingError as error:
            raise CommandFailed(
                f"what {self.base_url} sent can't be read ({error})",
                remedy="check that this is the address of Citebound",
                error="unreadable",
            ) from error


def open_api(url: str | None) -> Api:
    """--url, else CITEBOUND_URL, else the instance that runs on the data folder.

    Raises: CommandFailed (UNREACHABLE) when nothing runs; SettingsError.
    """
    env = os.environ
    settings = load_settings(env)
    named = url or env.get(URL)
    if named is not None:
        if not is_address(named):
            raise CommandFailed(
                f"{named!r} is not an address", remedy="write it as http://host:port", code=USAGE, error="usage"
            )
        return Api(named.rstrip("/"), key=settings.api.api_key)
    instance = read_instance(Layout(root=data_folder(env)))
    if instance is None or not instance.address or not is_alive(instance.pid):
        raise CommandFailed(
            f"Citebound is not running on {data_folder(env)}", remedy=START_IT, code=UNREACHABLE, error="unreachable"
        )
    return Api(instance.address, key=settings.api.api_key)


def segment(text: str) -> str:
    """One part of a path, whatever is in it; . and .. would lead to another address."""
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")


def _decoded(reply: httpx.Response, type: type[T]) -> T:
    if not reply.is_success:
        raise _problem(reply)
    try:
        return msgspec.json.decode(reply.content, type=type)
    except msgspec.DecodeError as error:
        raise CommandFailed(
            f"{reply.request.url} answered something unexpected ({error})",
            remedy="is that address a Citebound of the same version?",
            error="bad_reply",
        ) from error


def _problem(reply: httpx.Response) -> CommandFailed:
    try:
        problem = msgspec.json.decode(reply.content, type=Problem)
    except msgspec.DecodeError:
        problem = Problem(detail=f"{reply.request.url} answered {reply.status_code}", code="bad_reply")
    message = problem.detail or problem.title or f"status {reply.status_code}"
    code = USAGE if problem.code == "invalid_argument" else FAILED
    remedy = _REMEDIES.get(problem.code, problem.remedy or "")
    return CommandFailed(
        f"{message} ({problem.code})", remedy=remedy, code=code, error=problem.code, field=problem.field or ""
    )


def compact(value: object) -> str:
    """Decoded JSON on one line, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
