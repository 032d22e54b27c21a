"""What the caller and the trace are told of a run's answer, once it is verified."""

from collections.abc import Callable

from opentelemetry.trace import Span, Status, StatusCode, get_current_span

from api.agent.finish import Verified
from api.agent.steps import Broken, Outcome
from shared.telemetry import names
from shared.telemetry.artifacts import attach
from shared.text.sentences import sentences
from shared.types.events import AnswerDelta, CitationMade, RunCompleted, RunEvent, RunFailed
from shared.types.runs import Answer


def tell(answer: Answer, outcome: Outcome, emit: Callable[[RunEvent], None]) -> None:
    """Only verified text is ever shown."""
    if isinstance(outcome.ending, Broken):
        emit(
            RunFailed(
                run_id=answer.run_id,
                code=outcome.ending.code,
                message=answer.text,
                retryable=outcome.ending.retryable,
                answer=answer,
            )
        )
        return
    for start, end in sentences(answer.text):
        emit(AnswerDelta(text=answer.text[start:end]))
    for citation in answer.citations:
        emit(CitationMade(citation=citation))
    emit(RunCompleted(answer=answer))


def trace_citations(verified: Verified) -> None:
    """How every cited sentence was judged, as events on the span under way."""
    span = get_current_span()
    for one in verified.claims:
        for block_id in one.claim.block_ids:
            span.add_event(
                names.CITATION,
                {
                    "block_id": block_id,
                    "verdict": one.checked.verdict,
                    "missing": len(one.checked.missing),
                    "score": round(one.checked.score, 3),
                },
            )
    for block_id in verified.removed:
        span.add_event(names.CITATION, {"block_id": block_id, "verdict": "removed", "problem": "not in the ledger"})


def describe(span: Span, answer: Answer) -> None:
    """What the run came to and what it cost, on its root span."""
    span.set_attributes(
        {
            names.RUN_STATUS: answer.status,
            names.TERMINATION: answer.termination_reason,
            names.INPUT_TOKENS: answer.usage.chat_input_tokens,
            names.OUTPUT_TOKENS: answer.usage.chat_output_tokens,
            names.REASONING_TOKENS: answer.usage.reasoning_tokens,
            names.EMBEDDING_TOKENS: answer.usage.embedding_tokens,
            names.RERANK_TOKENS: answer.usage.rerank_tokens,
            names.TOKENS_ESTIMATED: answer.usage.estimated,
        }
    )
    attach(span, "answer", answer.text)
    if answer.status == "failed":
        span.set_attribute(names.ERROR_TYPE, answer.termination_reason)
        span.set_status(Status(StatusCode.ERROR, answer.termination_reason))
