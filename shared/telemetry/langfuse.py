"""What Langfuse wants to find on a span beside the GenAI attributes.

Source: Langfuse's OpenTelemetry attribute mapping (server 4, Python SDK 5). Without a type of its own a span that names a model counts as a
generation, and costs count twice; what a trace is filtered by has to stand on every span.
"""

from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from shared.telemetry import names
from shared.telemetry.contents import Contents
from shared.version import APP_VERSION

_TYPES: Final = {
    "invoke_agent": "agent",
    "chat": "generation",
    "execute_tool": "tool",
    "retrieval": "retriever",
    "embeddings": "embedding",
}


def attributes(span: ReadableSpan, contents: Contents) -> dict[str, str]:
    given = span.attributes or {}
    found = {
        "langfuse.observation.type": _TYPES.get(str(given.get(names.OPERATION)), "span"),
        "langfuse.trace.name": _trace_name(span),
        "langfuse.release": APP_VERSION,
    }
    for key in (names.RUN_ID, names.IMPORT_ID, names.SNAPSHOT_ID):
        if (value := given.get(key)) is not None:
            found[f"langfuse.trace.metadata.{key.removeprefix('citebound.').replace('.', '_')}"] = str(value)
    if (conversation := given.get(names.CONVERSATION)) is not None:
        found["langfuse.session.id"] = str(conversation)
    if span.status.status_code is StatusCode.ERROR:
        found["langfuse.observation.level"] = "ERROR"
        found["langfuse.observation.status_message"] = span.status.description or str(given.get(names.ERROR_TYPE, ""))
    if (text := contents.into()) is not None:
        found["langfuse.observation.input"] = text
    if (text := contents.out_of()) is not None:
        found["langfuse.observation.output"] = text
    return found


def _trace_name(span: ReadableSpan) -> str:
    return "import" if names.IMPORT_ID in (span.attributes or {}) else "ask"
