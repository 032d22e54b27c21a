"""Runs: limits, usage, evidence, citations and the answer."""

from typing import Any, Literal

from msgspec import Struct

from shared.ids import BlockId, ConversationId, DocId, KeyId, RunId, SnapshotId
from shared.types.documents import Trust
from shared.types.snapshots import FailedDocument

Status = Literal["complete", "partial", "refused", "clarification", "failed"]
Verdict = Literal["supported", "unsupported", "unchecked"]
# what becomes of a sentence that its sources don't support: it is flagged, or repaired once and otherwise dropped
CitationMode = Literal["flag", "strict"]
ProtocolName = Literal["react", "tools"]  # how a model says what it decides: text, or native function calls
# how a question is gone about; see api/agent/paths/README.md
PathName = Literal["direct", "pipeline", "agent", "plan", "verify"]
WantedPath = Literal["auto", "direct", "pipeline", "agent", "plan", "verify"]
ToolName = Literal["list_documents", "get_outline", "search_blocks", "list_blocks", "scan_term"]


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Chat tokens by the run's own tokenizer; each bounds a different thing."""

    max_context_tokens: int = 100_000  # one model call's input
    max_request_tokens: int = 400_000  # all chat tokens of the run, retries and failures included
    max_tool_calls: int = 8
    finalization_reserve_tokens: int = 4_000
    max_wall_seconds: int = 120


class Scope(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each absent field means no restriction; fields given are united into one set of documents."""

    doc_ids: tuple[DocId, ...] | None = None
    sources: tuple[str, ...] | None = None  # labels or aliases
    tags: tuple[str, ...] | None = None


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """One block that entered the model's context in this run, and how."""

    block_id: BlockId
    doc_id: DocId
    version: int
    title: str
    source_label: str
    section_path: str
    page_first: int | None
    page_last: int | None
    trust: Trust
    updated_at_ms: int
    snapshot_id: SnapshotId
    turn: int  # 1..
    tool: ToolName
    rank: int  # 1.. in that tool's result
    at_ms: int
    extent: Literal["block", "snippet"]  # how much of the block the model saw
    seen: str  # that text
    table_header: str = ""  # of a table cut over several blocks: shown above that text
    span_start: int = 0  # where it stands: code points in the version's canonical text
    span_end: int = 0
    query: str  # the sub-question or term it was fetched for


class Citation(Struct, frozen=True, kw_only=True):
    """A marker of the answer, resolved. `quote` is stored so that it outlives the snapshot."""

    marker: int  # consecutive in order of first appearance in the text; from 1, or from behind what a quoted sentence itself has as [n]
    block_id: BlockId
    doc_id: DocId
    version: int
    snapshot_id: SnapshotId
    title: str
    source_label: str
    section_path: str
    page_first: int | None
    page_last: int | None
    span_start: int
    span_end: int
    quote: str  # verbatim text of the block as the model saw it
    trust: Trust
    verdict: Verdict
    problem: str | None = None  # what the block doesn't support


class ClaimCheck(Struct, frozen=True, kw_only=True):
    """A sentence of the answer that was checked: it stands at a citation, or states facts without one.

    `markers`: of the citations it stands at, () for none. `problem`: why it is not supported, in the question's language.
    """

    sentence: str
    markers: tuple[int, ...]
    verdict: Verdict
    problem: str | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """Chat, embedding and rerank tokens are never added to one another."""

    chat_input_tokens: int = 0
    chat_output_tokens: int = 0
    reasoning_tokens: int = 0
    embedding_tokens: int = 0
    rerank_tokens: int = 0
    model_calls: int = 0  # real ones, retries included
    tool_calls: int = 0  # logical ones
    estimated: bool = False  # some number was counted here because the provider gave none


class Limitation(Struct, frozen=True, kw_only=True):
    code: str  # e.g. context_budget_exceeded, brake_gain, snapshot_partial, extractive_answer, citation_removed
    text: str  # for people, in the question's language


class RunManifest(Struct, frozen=True, kw_only=True):
    """Names for people, hashes for identity."""

    app_version: str
    loop_version: str
    protocol: str
    tool_contract_version: str
    retrieval_profile: str
    prompt_bundle: str  # id/version
    prompt_bundle_sha256: str
    model: str
    embedding_version: str
    keyword_version: str
    snapshot_id: SnapshotId
    snapshot_manifest_sha256: str
    limits: Limits
    access_sha256: str
    citation_mode: CitationMode = "flag"
    prompt_bundle_origin: Literal["release", "local"] = "release"
    prompt_bundle_parent: str | None = None  # id/version
    path: PathName = "agent"
    path_reason: str = ""  # code of why the router chose it; "forced"
    app_build: str = ""  # over the program's own files; "" in runs from before it was kept
    model_settings: str = ""  # how the provider was asked, for people
    model_settings_sha256: str = ""


class SnapshotGap(Struct, frozen=True, kw_only=True):
    """What the pinned snapshot does not hold."""

    state: Literal["ready", "ready_partial"]
    documents: int
    failed_documents: tuple[FailedDocument, ...] = ()


class Answer(Struct, frozen=True, kw_only=True):
    run_id: RunId
    status: Status
    text: str  # citation markers in the form [1], [2], referring to `citations`
    citations: tuple[Citation, ...]
    limitations: tuple[Limitation, ...]
    termination_reason: str
    extractive: bool  # made of verbatim sentences, without a model
    usage: Usage
    snapshot_id: SnapshotId | None
    snapshot: SnapshotGap | None
    manifest: RunManifest | None
    question: str
    started_at_ms: int
    duration_ms: int
    claims: tuple[ClaimCheck, ...] = ()  # in the order of the text
    conversation_id: ConversationId | None = None


class Fingerprint(Struct, frozen=True, kw_only=True):
    """A tool's payload without its texts."""

    payload_sha256: str  # of the whole canonical payload, as it left the tool
    payload_bytes: int
    blocks: int  # shown in it
    block_ids: tuple[BlockId, ...] = ()  # in its order; () where there are too many to keep
    texts: tuple[str, ...] = ()  # of each of them: 16 hex digits of the SHA-256 of what was shown


class RecordedCall(Struct, frozen=True, kw_only=True):
    """One tool call of a run, retries included."""

    turn: int
    tool: str
    arguments: str  # canonical JSON
    arguments_sha256: str  # of these before secrets were taken out
    error_code: str | None = None
    came_to: Fingerprint | None = None  # None: cut off by the run's clock


class Retrieval(Struct, frozen=True, kw_only=True):
    """Everything beside the manifest that it takes to carry out a run's tool calls again."""

    scope: Scope | None
    calls: tuple[RecordedCall, ...]


class RunRecord(Struct, frozen=True, kw_only=True):
    """What is kept of a finished run."""

    answer: Answer
    ledger: tuple[LedgerEntry, ...]
    access: tuple[str, ...] | None  # labels the run could see; None = all
    asker: KeyId | None = None  # None = the owner
    retrieval: Retrieval | None = None  # None = a run from before this was kept
    exchanges: int | None = None  # said before, that it leaned on; None = a run from before this was kept
    rerun_of: RunId | None = None  # the run that this one repeats


class StoredQuote(Struct, frozen=True, kw_only=True):
    """A block that is no longer here, as far as an answer quoted it."""

    source: Literal["stored_quote"] = "stored_quote"
    block_id: BlockId
    doc_id: DocId
    version: int
    snapshot_id: SnapshotId  # from which it was read
    snapshot_removed_at_ms: int | None  # None: unknown, e.g. with another catalog
    title: str  # this and what follows as it was then
    source_label: str
    section_path: str
    page_first: int | None
    page_last: int | None
    span_start: int
    span_end: int
    trust: Trust
    quote: str  # verbatim what the model saw of it; perhaps not the whole block
    run_id: RunId | None  # that quoted it; this and when: None for whoever may not read that run
    cited_at_ms: int | None
    active_version: (
        int | None
    )  # the document's version in the active snapshot, if it is there and the caller may see it


JsonObject = dict[str, Any]  # only at the border where foreign JSON comes in
