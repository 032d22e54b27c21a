"""A run as one file: its record, its trace and whatever contents were kept, without secrets. Readable without a server."""

from collections.abc import Callable, Iterator

import msgspec
from msgspec import structs

from shared.errors import NotFound
from shared.saved_runs import walked
from shared.telemetry.artifacts import ARTIFACT_PREFIX
from shared.telemetry.redact import Redactor
from shared.telemetry.rows import without_secrets
from shared.types.runfiles import RunFile
from shared.types.runs import RunRecord
from shared.types.traces import SpanNode, Trace
from shared.version import APP_VERSION


def run_file(record: RunRecord, trace: Trace, *, kept: Callable[[str], bytes], redactor: Redactor) -> RunFile:
    """`kept`: a content by its hash, raises NotFound. Stored is text without configured secrets already; a file may go
    anywhere, so whatever looks like a key goes too, also where an answer quotes a document that shows one. Blocking.
    """
    contents: dict[str, str] = {}
    for sha256 in hashes_in(trace.spans):
        try:
            contents[sha256] = kept(sha256).decode(errors="replace")
        except NotFound:  # trace level metadata keeps none
            continue
    whole = RunFile(format="citebound-run-1", app_version=APP_VERSION, record=record, trace=trace, contents=contents)
    # Hashes are names, not texts: no value is looked for in them.
    cleaned = without_secrets(msgspec.to_builtins(structs.replace(whole, contents={})), redactor.text)
    texts = {sha256: redactor.text(text) for sha256, text in contents.items()}
    return structs.replace(msgspec.convert(cleaned, RunFile), contents=texts)


def hashes_in(spans: tuple[SpanNode, ...]) -> Iterator[str]:
    """Of the contents that spans speak of, each once, in the order of the tree."""
    return iter(dict.fromkeys(_hashes(spans)))


def _hashes(spans: tuple[SpanNode, ...]) -> Iterator[str]:
    for span in walked(spans):
        for key, value in span.attributes.items():
            if key.startswith(ARTIFACT_PREFIX) and key.endswith(".sha256"):
                yield str(value)
