"""Which runs a filter wants: in the store, and among those that are not on disk yet. A test holds the two against one another."""

from typing import Final

import msgspec

from shared.access import Access
from shared.telemetry.rows import summary
from shared.text.fold import fold
from shared.types.runs import RunRecord
from shared.types.traces import RunFilter

EVERY: Final = RunFilter()
_SAID: Final = {  # column of the summary, comparison
    "status": ("$.status", "="),
    "snapshot_id": ("$.snapshot_id", "="),
    "min_tokens": ("$.chat_tokens", ">="),
    "max_tokens": ("$.chat_tokens", "<="),
    "min_duration_ms": ("$.duration_ms", ">="),
    "max_duration_ms": ("$.duration_ms", "<="),
}
_CITED: Final = (
    "run_id in (select citations.run_id from json_each(:doc_ids) wanted join citations"
    " on citations.block_id >= wanted.value || '.' and citations.block_id < wanted.value || '/')"  # '/' follows '.'
)


def where(wanted: RunFilter, access: Access) -> tuple[str, dict[str, object]]:
    """A condition on table `runs`, and its values. `folded` is to be a function of the connection.

    Of the caller's rights only who asked: whoever reads the rows still asks `may_read`.
    """
    told = msgspec.to_builtins(wanted)
    conditions = [
        f"json_extract(summary, '{column}') {how} :{name}"
        for name, (column, how) in _SAID.items()
        if told[name] is not None
    ]
    values: dict[str, object] = {name: told[name] for name in _SAID if told[name] is not None}
    if not access.is_admin:
        conditions.append("asker is :asker")
        values["asker"] = access.key_id
    match wanted.stopped_by:
        case None:
            pass
        case "any" | "none":
            conditions.append(
                f"json_extract(summary, '$.stopped_by') is {'not ' if wanted.stopped_by == 'any' else ''}null"
            )
        case stop:
            conditions.append("json_extract(summary, '$.stopped_by') = :stop")
            values["stop"] = stop
    if wanted.prompt_bundle is not None:
        bundle = "json_extract(summary, '$.prompt_bundle')"
        conditions.append(f"({bundle} = :bundle or substr({bundle}, 1, length(:bundle) + 1) = :bundle || '/')")
        values["bundle"] = wanted.prompt_bundle
    if wanted.doc_ids:
        conditions.append(_CITED)
        values["doc_ids"] = msgspec.json.encode(wanted.doc_ids).decode()
    if wanted.text is not None:
        conditions.append("instr(folded(json_extract(summary, '$.question')), :text) > 0")
        values["text"] = fold(wanted.text)
    if wanted.before is not None:
        conditions.append("run_id < :before")
        values["before"] = wanted.before
    return " and ".join(conditions) or "true", values


def fits(record: RunRecord, wanted: RunFilter) -> bool:
    """The same of a record in hand."""
    told = summary(record)
    return (
        wanted.status in (None, told.status)
        and (
            wanted.stopped_by is None
            or wanted.stopped_by in (told.stopped_by or "none", "any" if told.stopped_by else "none")
        )
        and _between(told.chat_tokens, wanted.min_tokens, wanted.max_tokens)
        and _between(told.duration_ms, wanted.min_duration_ms, wanted.max_duration_ms)
        and wanted.snapshot_id in (None, told.snapshot_id)
        and (wanted.prompt_bundle is None or _is_of(told.prompt_bundle, wanted.prompt_bundle))
        and (not wanted.doc_ids or any(one.doc_id in wanted.doc_ids for one in record.answer.citations))
        and (wanted.text is None or fold(wanted.text) in fold(told.question))
        and (wanted.before is None or told.run_id < wanted.before)
    )


def _is_of(bundle: str | None, wanted: str) -> bool:
    return bundle is not None and f"{bundle}/".startswith(f"{wanted}/")


def _between(value: int, least: int | None, most: int | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)
