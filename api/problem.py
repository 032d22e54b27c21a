"""An error as people and programs see it: the fields of RFC 9457 and ours. Protocol folders put it into their own shape."""

from msgspec import Struct

from shared.errors import CiteboundError, NotFound, RateLimited, UpstreamError


class FieldProblem(Struct, frozen=True, kw_only=True):
    """One input and what is wrong with it."""

    field: str  # path from the body's root or the parameter's name
    problem: str


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`code` is contract, the texts are not. `error_id` is in the log beside the cause of an internal error."""

    type: str  # urn:citebound:problem:<code>
    title: str
    status: int
    detail: str
    code: str
    retryable: bool = False
    field: str | None = None
    ids: tuple[str, ...] = ()
    errors: tuple[FieldProblem, ...] = ()
    remedy: str | None = None
    retry_after_s: float | None = None
    error_id: str | None = None
    run_id: str | None = None  # of the run that failed: its trace tells more


_TITLES: dict[str, str] = {
    "invalid_argument": "An input is not valid",
    "invalid_settings": "A setting is not valid",
    "malformed_json": "The body is not JSON",
    "not_found": "Not found",
    "method_not_allowed": "This address does not take that method",
    "scope_not_found": "The scope names something that is not there",
    "no_snapshot": "No documents have been published yet",
    "conflict": "Not possible in the present state",
    "too_large": "Too large",
    "unauthorized": "A key is needed",
    "forbidden": "Not allowed",
    "rate_limited": "Too many requests",
    "request_timeout": "The request did not arrive",
    "client_gone": "Nobody waits for this any more",
    "storage_unavailable": "The data folder can't be used",
    "collection_unavailable": "A snapshot can't be opened",
    "server_stopping": "The server is being stopped",
    "upstream_unavailable": "Another service does not answer",
    "internal_error": "Something broke inside",
}
_REMEDIES: dict[str, str] = {
    "invalid_argument": "Correct what `field` or `errors` names; /openapi/openapi.json says what every route takes.",
    "invalid_settings": "Correct the setting and start again; ./scripts/run doctor lists them all.",
    "malformed_json": "Send JSON in UTF-8, with Content-Type: application/json.",
    "not_found": "/openapi/openapi.json lists the routes.",
    "method_not_allowed": "Use a method that the header Allow names.",
    "scope_not_found": "Take ids, sources and tags from GET /api/documents, sections from the tool get_outline.",
    "conflict": "Look at the present state of what `ids` names, and try again when it allows this.",
    "too_large": "Send or ask for less at once, or raise the limit in the settings (CITEBOUND_API_MAX_…).",
    "forbidden": "Use another key, or the address and page that the server was opened with; `detail` says which.",
    "rate_limited": "Wait for the seconds in Retry-After, or ask for a key with more requests a minute.",
    "request_timeout": "Send it again, whole and at once.",
    "client_gone": "Keep the connection open until the reply is there.",
    "upstream_unavailable": "Look whether the service in `detail` runs; ./scripts/run doctor --online tries it.",
    "provider_timeout": "Ask again; raise the provider's time-outs in the settings if it is always that slow.",
    "provider_rate_limited": "Ask again later, or raise the limit at the provider.",
    "provider_overloaded": "Ask again later.",
    "provider_auth": "Correct the provider's key in the settings; ./scripts/run doctor --online tries it.",
    "provider_quota": "Top up the account at the provider.",
    "provider_bad_request": "Compare model and options in the settings with what the provider takes; ./scripts/run doctor --online.",
    "provider_no_tools": "Use a model that takes tools, or the protocol that needs none, in the settings.",
    "provider_context_too_long": "Lower CITEBOUND_LIMITS_MAX_CONTEXT_TOKENS to what the model takes, or narrow the scope.",
    "provider_content_filtered": "Put the question in other words, or use another provider.",
    "provider_interrupted": "Ask again.",
    "provider_bad_reply": "Ask again; look at the trace of the run if it goes on.",
    "no_snapshot": "Import documents first: ./scripts/run import PATH, or POST /api/imports.",
    "unauthorized": "Send the header Authorization: Bearer <key>: the one in CITEBOUND_API_API_KEY, or one made with ./scripts/run keys add.",
    "storage_unavailable": "Look at disk space and permissions; ./scripts/run doctor says more.",
    "server_stopping": "Ask again in a minute; if nobody answers then, start the server: ./scripts/run.",
    "collection_unavailable": "./scripts/run doctor says what helps: reindex, import again, or activate another snapshot.",
    "internal_error": "Look for the error_id in the log of the API.",
}


_LISTS: dict[str, str] = {  # what is looked for, by the name of its field, and where all of it is listed
    "block_id": "Take block ids from an answer, a tool, or GET /api/documents/{doc_id}/blocks",
    "case_id": "GET /api/cases lists the cases there are",
    "conversation_id": "GET /api/conversations lists your conversations",
    "doc_id": "GET /api/documents lists the documents of a snapshot",
    "import_id": "GET /api/imports lists the imports",
    "key_id": "GET /api/keys lists the keys",
    "model": "GET /v1/models lists the models",
    "name": "GET /api/tools lists the tools",
    "prompt_bundle": "GET /api/prompts lists the bundles",
    "run_id": "GET /api/runs lists the runs",
    "snapshot_id": "GET /api/snapshots lists the snapshots",
}


_CUT_BLOCK_ID = (
    "A block's id ends with # and a number; in an address the # is written %23 (…/api/blocks/k3f9a2qd.v1%230):"
    " what stands behind a plain # is never sent."
)


def problem(
    code: str, detail: str, *, status: int, errors: tuple[FieldProblem, ...] = (), run_id: str | None = None
) -> Problem:
    """A problem that no error of ours stands for."""
    return Problem(
        type=_type(code),
        title=_TITLES.get(code, code),
        status=status,
        detail=detail,
        code=code,
        field=errors[0].field if errors else None,
        errors=errors,
        remedy=_REMEDIES.get(code),
        run_id=run_id,
    )


def problem_of(error: CiteboundError) -> Problem:
    return Problem(
        type=_type(error.code),
        title=_TITLES.get(error.code, "A provider failed" if isinstance(error, UpstreamError) else error.code),
        status=error.status,
        detail=error.message,
        code=error.code,
        retryable=error.retryable,
        field=error.field,
        ids=error.ids,
        remedy=_remedy(error),
        retry_after_s=error.retry_after_s if isinstance(error, UpstreamError | RateLimited) else None,
    )


def _remedy(error: CiteboundError) -> str | None:
    if isinstance(error, NotFound) and error.field == "block_id" and not any("#" in one for one in error.ids):
        return _CUT_BLOCK_ID
    if isinstance(error, NotFound) and error.field in _LISTS:
        return f"{_LISTS[error.field]}; what the key may not read is not there for it."
    return _REMEDIES.get(error.code)


def internal(error_id: str, *, run_id: str | None = None) -> Problem:
    """Nothing of what went wrong inside is told; the log knows it under `error_id`."""
    return Problem(
        type=_type("internal_error"),
        title=_TITLES["internal_error"],
        status=500,
        detail=f"An error that should not happen did. It is in the log as {error_id}.",
        code="internal_error",
        remedy=_REMEDIES["internal_error"],
        error_id=error_id,
        run_id=run_id,
    )


def _type(code: str) -> str:
    return f"urn:citebound:problem:{code}"
