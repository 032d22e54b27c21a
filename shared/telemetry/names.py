"""Names of spans, attributes and events, in one table: the GenAI conventions still move.

Source: OpenTelemetry semantic-conventions-genai, as of 2026-10 (util-genai 1.3b0); citebound.* is ours.
Spans are OpenTelemetry's, opened with `tracing.tracer`; the SDK is set up once by a process's app.
"""

from typing import Final

TRACER: Final = "citebound"

# spans
RUN: Final = "invoke_agent citebound"
TURN: Final = "turn"
CHAT: Final = "chat"
TOOL: Final = "execute_tool"  # + " " + tool name
SEARCH: Final = "retrieval"
SEARCH_EMBED: Final = "embeddings"
SEARCH_DENSE: Final = "search dense"
SEARCH_KEYWORD: Final = "search keyword"
SEARCH_FUSION: Final = "search fusion"
SEARCH_RERANK: Final = "search rerank"
SEARCH_PREFERENCE: Final = "search preference"
REPLAY: Final = "replay"
IMPORT: Final = "import"
STAGE: Final = "import stage"  # + " " + stage

# GenAI attributes
OPERATION: Final = "gen_ai.operation.name"  # invoke_agent | chat | execute_tool | retrieval | embeddings | rerank
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION: Final = "gen_ai.conversation.id"
INPUT_MESSAGES: Final = "gen_ai.input.messages"  # JSON; on exported spans only
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
PROVIDER: Final = "gen_ai.provider.name"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"  # where the address names one
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
DIMENSIONS: Final = "gen_ai.embeddings.dimension.count"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"  # datastore: it looks things up
TOOL_RESULT: Final = "gen_ai.tool.call.result"  # JSON; on exported spans only
DATA_SOURCE: Final = "gen_ai.data_source.id"  # snapshot_id
TOP_K: Final = "gen_ai.retrieval.top_k"
ERROR_TYPE: Final = "error.type"  # our error code

# our attributes
RUN_ID: Final = "citebound.run.id"
TRACE_LEVEL: Final = "citebound.trace.level"  # full | metadata: on a run's root, and on every span that is exported
RUN_STATUS: Final = "citebound.run.status"
TERMINATION: Final = "citebound.run.termination_reason"
MANIFEST: Final = "citebound.run.manifest"  # JSON of RunManifest
SNAPSHOT_ID: Final = "citebound.snapshot.id"
IMPORT_ID: Final = "citebound.import.id"
TURN_NUMBER: Final = "citebound.turn"
TURN_FINAL: Final = "citebound.turn.final"
TURN_PURPOSE: Final = "citebound.turn.purpose"  # what a path prescribed: rewrite, multi_query, search, check, …
ATTEMPT: Final = "citebound.attempt"  # 1, or 2 for the automatic retry
TOKENS_ESTIMATED: Final = "citebound.tokens.estimated"
CONTEXT_TOKENS: Final = "citebound.context.tokens"  # estimate before the call
TOOL_ARGUMENTS: Final = "citebound.tool.arguments"  # canonical JSON
HARNESS_STATUS: Final = "citebound.harness_status"
OBSERVATION_TOKENS: Final = "citebound.observation.tokens"
OBSERVATION_ADMITTED: Final = "citebound.observation.admitted"
RESULT_BLOCKS: Final = "citebound.result.blocks"
RETRIEVAL_PROFILE: Final = "citebound.retrieval.profile"
PREFERENCE: Final = "citebound.retrieval.preference"  # newer | trusted, as the caller chose
PREFERENCE_REACH: Final = "citebound.retrieval.preference_reach"  # the most that it adds to a score
CANDIDATES: Final = "citebound.retrieval.candidates"  # JSON: [{"block_id","rank","score",…}], by rank
FILTER: Final = "citebound.retrieval.filter"  # JSON
KEYWORD_TERMS: Final = (
    "citebound.retrieval.keyword_terms"  # number; 0 = the query has none, the keyword branch returned nothing
)
KEYWORD_VERSION: Final = "citebound.keyword.version"
KEYWORD_SHARE: Final = "citebound.retrieval.keyword_share"  # 0..1: how much the keyword branch had to say
ACROSS_LANGUAGES: Final = "citebound.retrieval.across_languages"  # the query's language was taken out of its vector
EMPTY_REASON: Final = "citebound.empty_reason"  # no_match | scope_empty | collection_empty
EMBEDDING_VERSION: Final = "citebound.embedding.version"
EMBEDDING_TOKENS: Final = "citebound.embedding.tokens"
RERANK_TOKENS: Final = "citebound.rerank.tokens"
REPLAYED_RUN: Final = "citebound.replay.run_id"  # not RUN_ID: a replay is no part of the run's own trace

# events
ADMISSION: Final = (
    "admission"  # tokens, used, limit, reserve (those that decided; the manifest has the configured ones), admitted
)
BRAKE: Final = "brake"  # kind
PROTOCOL_ERROR: Final = "protocol_error"  # problem
RETRY: Final = "retry"  # code
DECISION: Final = "decision"  # tool, arguments: what a reply was read as, also when the harness answers it itself
ROUTE: Final = "route"  # path, reason, forced; again when a path hands over to another
SUFFICIENCY: Final = "sufficiency"  # verdict, and the signals it was made of
DROPPED: Final = "evidence_dropped"  # blocks, reason
PLAN_REFUSED: Final = "plan_refused"  # fault
QUERY_TOOL: Final = "query_tool"  # name, used: whether its reply could be used
CITATION: Final = "citation"  # block_id, verdict, problem

# attributes that hold contents: kept only at trace level `full`
CONTENTS: Final = frozenset({CANDIDATES})

# attributes that every span beneath takes over from its parent
INHERITED: Final = (RUN_ID, IMPORT_ID, CONVERSATION)
