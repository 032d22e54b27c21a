"""The errors of Citebound. `code` is contract, the text is not.

CiteboundError
├── UserError               the caller can mend it; 4xx; never retried
│   ├── InvalidArgument     invalid_argument
│   ├── NotFound            not_found            (kind, id)
│   ├── ScopeNotFound       scope_not_found      (missing ids or paths)
│   ├── NoSnapshot          no_snapshot          nothing has been published yet
│   ├── Conflict            conflict             the state does not allow it
│   ├── TooLarge            too_large
│   ├── Unauthorized        unauthorized         no key, or a wrong one
│   ├── Forbidden           forbidden            a key without the permission; a page of another site
│   ├── RateLimited         rate_limited         `retry_after_s`
│   └── SettingsError       invalid_settings
├── DocumentError           one document fails alone, for good: its own code (see DOCUMENT_CODES)
├── StorageError            storage_unavailable  disk full, not writable, locked for too long
├── CollectionUnavailable   collection_unavailable
├── ServerStopping          server_stopping      takes no more questions
└── UpstreamError           upstream_unavailable, provider_*; `retryable` says whether another try can help
Everything else is a bug and is caught by nobody but the process's edge.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

DocumentCode = Literal[
    "empty",
    "encrypted",
    "corrupt",
    "unsupported",
    "too_large",
    "no_text_layer",
    "unreadable",
    "parse_timeout",
    "parse_memory",
    "parse_crashed",
]


class CiteboundError(Exception):
    """`message`: one sentence for a person: what is wrong and what helps. `field`: the input concerned. `ids`: what it is about."""

    code: str = "internal_error"
    status: ClassVar[int] = 500
    retryable: bool = False

    def __init__(self, message: str, *, field: str | None = None, ids: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.ids = tuple(ids)


class UserError(CiteboundError):
    status = 400


class InvalidArgument(UserError):
    code = "invalid_argument"


class SettingsError(UserError):
    code = "invalid_settings"


class NotFound(UserError):
    code = "not_found"
    status = 404


class ScopeNotFound(UserError):
    """`ids` holds every missing document id or section path; a document the caller may not see is simply missing."""

    code = "scope_not_found"
    status = 404


class NoSnapshot(UserError):
    code = "no_snapshot"
    status = 409


class Conflict(UserError):
    code = "conflict"
    status = 409


class TooLarge(UserError):
    code = "too_large"
    status = 413


class Unauthorized(UserError):
    code = "unauthorized"
    status = 401


class Forbidden(UserError):
    code = "forbidden"
    status = 403


class RateLimited(UserError):
    """`retry_after_s`: after which the next request is let in."""

    code = "rate_limited"
    status = 429
    retryable = True

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DocumentError(CiteboundError):
    """One document can't be imported; the others go on."""

    status = 422

    def __init__(self, code: DocumentCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class StorageError(CiteboundError):
    code = "storage_unavailable"
    status = 503
    retryable = True


class CollectionUnavailable(CiteboundError):
    code = "collection_unavailable"
    status = 503


class ServerStopping(CiteboundError):
    code = "server_stopping"
    status = 503
    retryable = True


UpstreamCode = Literal[
    "upstream_unavailable",
    "provider_timeout",
    "provider_rate_limited",
    "provider_overloaded",
    "provider_auth",
    "provider_quota",
    "provider_bad_request",
    "provider_no_tools",
    "provider_context_too_long",
    "provider_content_filtered",
    "provider_interrupted",
    "provider_bad_reply",
]
_RETRYABLE: frozenset[str] = frozenset(
    {
        "upstream_unavailable",
        "provider_timeout",
        "provider_rate_limited",
        "provider_overloaded",
        "provider_interrupted",
        "provider_bad_reply",
    }
)


class UpstreamError(CiteboundError):
    """A provider, broker or engine failed.

    `retry_after_s`: what the provider asked for, if it did. `partial_text`: what a broken stream had delivered.
    `window_tokens`: the largest conversation the model takes, answer included, where the provider says it.
    `http_status`: what the provider answered with, if it answered.
    """

    status = 502

    def __init__(
        self,
        code: UpstreamCode,
        message: str,
        *,
        retry_after_s: float | None = None,
        partial_text: str = "",
        window_tokens: int | None = None,
        http_status: int | None = None,
        ids: Sequence[str] = (),
    ) -> None:
        super().__init__(message, ids=ids)
        self.code = code
        self.http_status = http_status
        self.retryable = code in _RETRYABLE
        self.retry_after_s = retry_after_s
        self.partial_text = partial_text
        self.window_tokens = window_tokens
