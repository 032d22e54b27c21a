"""Every setting, in one frozen object; read once by a process's `app.py` or the command line and handed down in pieces.

Order: defaults < citebound.toml < environment. `[chat] base_url` in the file is CITEBOUND_CHAT_BASE_URL in the environment.
Secrets (`api_key`) come from the environment or the OS credential store only; in a file they are refused.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from shared.types.runs import CitationMode, Limits, ProtocolName

Port = Annotated[int, Meta(ge=0, le=65535)]
Positive = Annotated[int, Meta(ge=1)]


class ApiSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    host: str = "127.0.0.1"
    port: Port = 8765  # 0 = any free one
    api_key: str | None = (
        None  # the owner's, a bearer token; without a demanded key only loopback addresses may be bound
    )
    require_key: bool = False  # whoever comes without a key is nobody, even on loopback and without an api_key
    max_upload_bytes: Positive = 200 * 1024 * 1024  # one request
    max_body_bytes: Positive = 1024 * 1024  # one JSON request
    max_result_bytes: Positive = 32 * 1024 * 1024  # what one tool may return; more is refused whole, never cut
    import_roots: tuple[
        str, ...
    ] = ()  # folders from which server paths may be imported; () = the owner's home, loopback only


class BrokerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    url: str | None = None  # None = embedded Valkey, started by `citebound up`


class QdrantSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    url: str | None = None  # None = embedded engine
    api_key: str | None = None


class EmbeddingSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    provider: Literal["local", "openai"] = "local"
    base_url: str | None = None
    api_key: str | None = None
    model: str | None = None
    dimensions: Positive | None = None  # asked of the provider and checked in every reply
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: Positive = 64  # texts per request
    max_tokens: Positive = 8000  # of one text
    timeout_s: Positive = 60


class RerankSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    base_url: str | None = None  # None = no reranking: the fused order stands
    api_key: str | None = None
    model: str | None = None  # its name is part of the retrieval profile
    api: Literal["common", "tei"] = "common"  # tei: Hugging Face's text-embeddings-inference
    depth: Positive = 20  # candidates that are sent; those behind keep their order
    timeout_s: Positive = 30


class ChatSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    base_url: str | None = None  # None = the built-in extractive answerer
    api_key: str | None = None
    model: str | None = None
    temperature: float = 0.0
    first_token_timeout_s: Positive = 60
    idle_timeout_s: Positive = 60  # between two pieces of a stream; keep-alive comments count as pieces
    protocol: ProtocolName = "react"  # tools = native function calls, for models that were trained on them
    reasoning: Literal["off", "on"] = "off"  # hidden reasoning, where the provider lets it be switched off
    extra_body: dict[str, Any] = {}  # sent as is, e.g. {"enable_thinking": false}


class CitationSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    mode: CitationMode = "flag"  # strict: what its source doesn't support is repaired once and otherwise dropped


class PromptSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    bundle: str = "default/1"  # of runs that name none; an older release version rolls the wording back alone


class ConversationSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    keep_days: Positive = 90  # after the last question; then it goes with its texts


class WorkerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    parse_timeout_s: Positive = 120  # one document
    parse_memory_mb: Positive = 2048
    max_document_bytes: Positive = 200 * 1024 * 1024
    block_tokens: Positive = 256  # target, chat tokens
    block_max_tokens: Positive = 400
    lease_ms: Positive = 15_000
    keep_snapshots: Positive = 5  # of those published last; besides them everything active, pinned or in use


class TraceSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    level: Literal["metadata", "full"] = "metadata"
    queue: Positive = 10_000  # spans waiting to be written


class AlertSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a day's figures may be at most; above it `doctor`, `figures` and GET /api/figures say so."""

    least_runs: Positive = 20  # a day with fewer says nothing of rates and durations
    brakes_per_run: float = 0.3
    no_answer_rate: float = 0.3
    citation_failure_rate: float = 0.1
    run_p95_s: float = 60.0
    snapshot_age_days: float | None = None  # None = a library may rest
    queue_depth: Positive | None = 50  # imports that are queued or under way at once
    dropped: Annotated[int, Meta(ge=0)] = 0  # spans, contents and runs that could not be kept


class OtlpSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    endpoint: str | None = None  # of traces, whole, e.g. http://127.0.0.1:4318/v1/traces; None = nothing is exported
    api_key: str | None = None
    api_key_header: str = "authorization"  # there it is sent as a bearer token, in any other header as it is
    contents: bool = False  # send prompts, payloads and answers of runs whose trace level is full


class LangfuseSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    base_url: str | None = None  # e.g. https://cloud.langfuse.com; None = nothing is exported
    public_key: str | None = None
    secret_key: str | None = None
    contents: bool = False  # as in [otlp]


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    data_dir: str
    api: ApiSettings = ApiSettings()
    broker: BrokerSettings = BrokerSettings()
    qdrant: QdrantSettings = QdrantSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
    chat: ChatSettings = ChatSettings()
    limits: Limits = Limits()
    citations: CitationSettings = CitationSettings()
    prompts: PromptSettings = PromptSettings()
    conversations: ConversationSettings = ConversationSettings()
    worker: WorkerSettings = WorkerSettings()
    trace: TraceSettings = TraceSettings()
    alerts: AlertSettings = AlertSettings()
    otlp: OtlpSettings = OtlpSettings()
    langfuse: LangfuseSettings = LangfuseSettings()
