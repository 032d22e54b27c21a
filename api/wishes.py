"""What a question may ask for beside its words, the same in every protocol."""

from typing import Annotated

from msgspec import Meta, Struct, structs

from api.agent.run import Exchange
from api.desk import Ask
from api.retrieval.profiles import check_preference
from shared.errors import InvalidArgument
from shared.ids import SnapshotId
from shared.settings import Settings
from shared.types.runs import CitationMode, Limits, ProtocolName, Scope, WantedPath
from shared.types.traces import TraceLevel


class Budgets(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of this run, each at most what the settings and the caller's key allow; absent = that."""

    max_context_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_request_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_tool_calls: Annotated[int, Meta(ge=0)] | None = None
    finalization_reserve_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_wall_seconds: Annotated[int, Meta(ge=1)] | None = None


class Wishes(Struct, frozen=True, kw_only=True):
    scope: Scope | None = None
    snapshot_id: SnapshotId | None = None
    budgets: Budgets = Budgets()
    trace_level: TraceLevel | None = None
    prefer: str | None = None  # newer | trusted: documents that searches put further in front; None = none
    citation_mode: CitationMode | None = None  # None = the settings'
    protocol: ProtocolName | None = None  # None = the settings'
    prompt_bundle: str | None = None  # id/version; None = the settings'
    path: WantedPath = "auto"  # how the question is gone about; auto = as the router sees fit


def ask_for(
    question: str,
    wishes: Wishes,
    *,
    ceiling: Limits,
    settings: Settings,
    history: tuple[Exchange, ...] = (),
    conversation_id: str | None = None,
) -> Ask:
    """Raises: InvalidArgument naming the wish that can't be had."""
    return Ask(
        question=question,
        limits=limits_within(ceiling, wishes.budgets),
        scope=wishes.scope,
        snapshot_id=wishes.snapshot_id,
        history=history,
        trace_level=wishes.trace_level,
        prefer=check_preference(wishes.prefer),
        citation_mode=wishes.citation_mode or settings.citations.mode,
        protocol=wishes.protocol or settings.chat.protocol,
        prompt_bundle=wishes.prompt_bundle,
        path=wishes.path,
        conversation_id=conversation_id,
    )


def limits_within(ceiling: Limits, wanted: Budgets) -> Limits:
    """Raises: InvalidArgument naming a limit above the settings'."""
    given = {name: value for name, value in structs.asdict(wanted).items() if value is not None}
    for name, value in given.items():
        most = getattr(ceiling, name)
        if value > most:
            raise InvalidArgument(f"{name} is {value}, at most {most} is allowed here.", field=f"budgets.{name}")
    limits = structs.replace(ceiling, **given)
    if limits.finalization_reserve_tokens >= limits.max_context_tokens:
        raise InvalidArgument(
            f"finalization_reserve_tokens is {limits.finalization_reserve_tokens}: that leaves no room in"
            f" max_context_tokens, {limits.max_context_tokens}.",
            field="budgets.max_context_tokens",
        )
    return limits
