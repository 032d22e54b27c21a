"""What can be done once more with a run, as its page shows it. Source: spec/06 "Four kinds of again"."""

import asyncio
from typing import Final

from msgspec import Struct

from api import rerun
from api.parts import Parts
from shared.access import Access
from shared.ids import RunId
from shared.telemetry.cases import case_id_of
from shared.types.again import Audit
from shared.types.cases import OwnFeedback
from shared.types.runs import RunRecord
from shared.types.traces import RunFilter, RunSummary, Trace

ALIKE: Final = 5  # runs that are offered for comparing
_LOOKED_THROUGH: Final = 50  # runs with the question in theirs, the newest


class AgainView(Struct, frozen=True, kw_only=True):
    """`alike`: other runs of the same question, the one this repeats first. `case_id`: of this run's case, if there is one."""

    audit: Audit
    alike: tuple[RunSummary, ...]
    given: OwnFeedback
    case_id: str | None


async def again_view(parts: Parts, run_id: RunId, trace: Trace, access: Access) -> AgainView:
    """Raises: NotFound, StorageError."""
    record = await asyncio.to_thread(parts.telemetry.run_record, run_id, access)
    return AgainView(
        audit=await rerun.audit(parts, record, trace, access),
        alike=await asyncio.to_thread(_alike, parts, record, access),
        given=await asyncio.to_thread(parts.telemetry.cases.own, run_id, by=access.key_id),
        case_id=await asyncio.to_thread(_case_id, parts, run_id),
    )


def _alike(parts: Parts, record: RunRecord, access: Access) -> tuple[RunSummary, ...]:
    question = record.answer.question
    found = parts.telemetry.list_runs(access, limit=_LOOKED_THROUGH, wanted=RunFilter(text=question))
    others = [one for one in found if one.question == question and one.run_id != record.answer.run_id]
    return tuple(sorted(others, key=lambda one: one.run_id != record.rerun_of)[:ALIKE])


def _case_id(parts: Parts, run_id: RunId) -> str | None:
    return None if parts.telemetry.cases.get(run_id) is None else case_id_of(run_id)
