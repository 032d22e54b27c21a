"""Which layer of a run failed: the way of every block from the search to the answer, and what stands out of it. Pure.

Source: spec/06 "Why". What fails is named as in cases (shared/types/cases.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from api.agent.words import content_terms
from api.web.run_turns import ToolCall, Turn
from shared.text.lang import detect_lang
from shared.types.cases import Layer
from shared.types.runs import LedgerEntry, RunRecord, Verdict

TOUCHES = 0.2  # of the question's words in a passage: with fewer it is about something else
MOST_BLOCKS = 200  # of those that only stood among the candidates: as many as a run of ten searches has
State = Literal["good", "warn", "bad", "none"]
Station = Literal["model", "called", "recalled", "let_in", "used", "cited"]


_ROOM: Final = frozenset({"context_budget_exceeded", "request_budget_exceeded"})
_LAYERS: Final[Mapping[Station, Layer]] = {
    "model": "other",
    "called": "not_called",
    "recalled": "not_recalled",
    "let_in": "refused_by_budget",
    "used": "ignored",
    "cited": "cited_wrongly",
}


class Step(Struct, frozen=True, kw_only=True):
    """One station on the way to the answer. `said`: which sentences tell of it, with their figures."""

    station: Station
    state: State
    said: tuple[str, ...]
    figures: dict[str, int]


class Happenings(Struct, frozen=True, kw_only=True):
    """`layer`, `first`: where to look first; None = nothing stands out."""

    layer: Layer | None
    first: Step | None
    steps: tuple[Step, ...]


class BlockWay(Struct, frozen=True, kw_only=True):
    """How far a block came. Ranks: its best of all searches, None = it was not there. `title` "": it was not read, so the run does not know it.

    `returned`: a tool showed it. `turn`: in which it was let in. `markers`: of the citations it has.
    """

    block_id: str
    title: str = ""
    section_path: str = ""
    dense: int | None = None
    keyword: int | None = None
    fused: int | None = None
    reranked: int | None = None
    returned: bool = False
    turn: int | None = None
    markers: tuple[int, ...] = ()
    verdict: Verdict | None = None

    @property
    def came(self) -> Literal["cited", "read", "returned", "candidate"]:
        if self.markers:
            return "cited"
        if self.turn is not None:
            return "read"
        return "returned" if self.returned else "candidate"


def happenings(record: RunRecord, turns: Sequence[Turn], ways: Sequence[BlockWay], removed: int) -> Happenings:
    """`removed`: marks that named nothing that was read."""
    steps = (
        _model(record, turns),
        _called(record, turns),
        _recalled(record, turns, ways),
        _let_in(record, turns, ways),
        _used(record, ways),
        _cited(record, removed),
    )
    bad = [one for one in steps if one.state == "bad"]
    if record.answer.termination_reason in _ROOM:  # what came before it went as it did because there was no room
        bad.sort(key=lambda one: one.station != "let_in")
    return Happenings(layer=_LAYERS[bad[0].station] if bad else None, first=bad[0] if bad else None, steps=steps)


def _step(station: Station, state: State, *said: str, **figures: int) -> Step:
    return Step(station=station, state=state, said=said, figures=figures)


def _model(record: RunRecord, turns: Sequence[Turn]) -> Step:
    answer = record.answer
    if answer.extractive:
        return _step("model", "none", "extractive")
    asks = [ask for turn in turns for ask in turn.asks]
    failed, unclear = sum(bool(one.failed) for one in asks), sum(len(turn.problems) for turn in turns)
    calls = answer.usage.model_calls
    if answer.status == "failed":
        said = "model_failed" if failed else "run_failed"
        return _step("model", "bad", said, calls=calls, failed=failed)
    if failed or unclear:
        return _step("model", "warn", "model_unsteady", calls=calls, failed=failed, unclear=unclear)
    return _step("model", "good", "model_answered", calls=calls)


def _called(record: RunRecord, turns: Sequence[Turn]) -> Step:
    calls = record.answer.usage.tool_calls
    manifest = record.answer.manifest
    if not calls and record.answer.status == "clarification":
        return _step("called", "none", "asked_back")
    if not calls:
        expected = manifest is None or manifest.path != "direct"
        return _step("called", "bad" if expected else "none", "not_called" if expected else "not_needed")
    failed = sum(bool(call.failed) for call in _last_attempts(turns))
    if failed:
        return _step("called", "bad" if failed >= calls else "warn", "calls_failed", calls=calls, failed=failed)
    return _step("called", "good", "calls", calls=calls)


def _last_attempts(turns: Sequence[Turn]) -> list[ToolCall]:
    return [call for turn in turns for call in turn.calls if not call.again]


def _refused(turns: Sequence[Turn]) -> bool:
    return any(call.admission is not None and not call.admission.admitted for call in _last_attempts(turns))


def _shown(record: RunRecord, turns: Sequence[Turn], ways: Sequence[BlockWay]) -> int:
    """Blocks that tools gave: different ones where they are known by name, else as many as were counted."""
    counted = max(sum(call.blocks for call in _last_attempts(turns)), len(record.ledger))
    named = sum(one.returned for one in ways)
    return named or counted


def _recalled(record: RunRecord, turns: Sequence[Turn], ways: Sequence[BlockWay]) -> Step:
    if not record.answer.usage.tool_calls:
        return _step("recalled", "none", "nothing_asked")
    shown = _shown(record, turns, ways)
    if not shown:
        return _step("recalled", "bad", "nothing_found")
    if not _refused(turns) and _beside_the_question(record):
        return _step("recalled", "bad", "found_beside", blocks=shown)
    return _step("recalled", "good", "found", blocks=shown)


def _let_in(record: RunRecord, turns: Sequence[Turn], ways: Sequence[BlockWay]) -> Step:
    read = len({one.block_id for one in record.ledger})
    if _refused(turns):
        answered = record.answer.citations or record.answer.status == "clarification"
        return _step("let_in", "warn" if answered else "bad", "refused", blocks=read)
    codes = {record.answer.termination_reason, *(one.code for one in record.answer.limitations)}
    if codes & _ROOM:
        return _step("let_in", "warn" if read else "bad", "no_room", blocks=read)
    if not _shown(record, turns, ways):
        return _step("let_in", "none", "nothing_to_read")
    return _step("let_in", "good" if read else "bad", "read", blocks=read)


def _used(record: RunRecord, ways: Sequence[BlockWay]) -> Step:
    read = len({one.block_id for one in record.ledger})
    if not read:
        return _step("used", "none", "nothing_read")
    cited = len({one.block_id for one in record.answer.citations})
    if not cited and record.answer.status == "clarification":
        return _step("used", "none", "asked_back")
    if _beside_the_question(record):
        return _step("used", "none", "nothing_fitting")
    if not cited:
        return _step("used", "bad", "ignored", blocks=read)
    return _step("used", "good", "used", cited=cited, blocks=read)


def _beside_the_question(record: RunRecord) -> bool:
    """Whether nothing was cited because nothing that was read is about what was asked, as far as words can tell.

    A passage in another language shares no words with its question, so where most are, nothing is said.
    """
    answer, read = record.answer, record.ledger
    if answer.citations or answer.status == "clarification":
        return False
    asked, chinese = content_terms(answer.question), detect_lang(answer.question) == "zh"
    alike = [one for one in read if (detect_lang(one.seen) == "zh") == chinese]
    if not asked or len(alike) * 2 <= len(read):
        return False
    needed = TOUCHES * len(asked)
    return all(len(asked & content_terms(f"{one.section_path} {one.seen}")) < needed for one in alike)


def _cited(record: RunRecord, removed: int) -> Step:
    cited = record.answer.citations
    wrong = sum(one.verdict == "unsupported" for one in cited)
    unsourced = sum(one.verdict == "unsupported" and not one.markers for one in record.answer.claims)
    figures = {"wrong": wrong, "removed": removed, "unsourced": unsourced}
    if said := [name for name, number in figures.items() if number]:
        return _step("cited", "bad", *said, **figures)
    if not cited:
        return _step("cited", "none", "uncited")
    unchecked = sum(one.verdict == "unchecked" for one in cited)
    if unchecked:
        return _step("cited", "warn", "unchecked", citations=len(cited), unchecked=unchecked)
    return _step("cited", "good", "supported", citations=len(cited))


def block_ways(record: RunRecord, turns: Sequence[Turn]) -> tuple[BlockWay, ...]:
    """Every block that is known of the run, the furthest first; of those that no tool showed the best MOST_BLOCKS."""
    ways: dict[str, BlockWay] = {}
    for search in (search for turn in turns for call in turn.calls for search in call.searches):
        for one in search.found:
            way = ways.setdefault(one.block_id, BlockWay(block_id=one.block_id))
            ways[one.block_id] = replace(
                way,
                dense=_better(way.dense, one.dense_rank),
                keyword=_better(way.keyword, one.keyword_rank),
                fused=_better(way.fused, one.rank),
                reranked=_better(way.reranked, one.rerank_rank),
                returned=way.returned or one.returned,
            )
    for block_id in _fingerprinted(record):
        ways[block_id] = replace(ways.get(block_id, BlockWay(block_id=block_id)), returned=True)
    for entry in record.ledger:
        ways[entry.block_id] = _read(ways.get(entry.block_id, BlockWay(block_id=entry.block_id)), entry)
    for one in record.answer.citations:
        way = ways.get(one.block_id, BlockWay(block_id=one.block_id))
        way = replace(way, title=one.title, section_path=one.section_path, markers=(*way.markers, one.marker))
        ways[one.block_id] = replace(way, verdict=one.verdict)
    titles: dict[str, str] = {entry.doc_id: entry.title for entry in record.ledger}
    named = [one if one.title else replace(one, title=titles.get(_document(one.block_id), "")) for one in ways.values()]
    shown = sorted((one for one in named if one.came != "candidate"), key=_furthest)
    return (*shown, *sorted((one for one in named if one.came == "candidate"), key=_furthest)[:MOST_BLOCKS])


def _furthest(way: BlockWay) -> tuple[int, int, int, str]:
    order = ("cited", "read", "returned", "candidate").index(way.came)
    return order, min(way.markers, default=way.turn or 0), way.fused or 1_000_000, way.block_id


def _fingerprinted(record: RunRecord) -> Iterable[str]:
    """What tools showed, as the record says at every trace level."""
    calls = record.retrieval.calls if record.retrieval else ()
    return (block_id for call in calls if call.came_to for block_id in call.came_to.block_ids)


def _read(way: BlockWay, entry: LedgerEntry) -> BlockWay:
    turn = entry.turn if way.turn is None else min(way.turn, entry.turn)
    return replace(way, title=entry.title, section_path=entry.section_path, turn=turn, returned=True)


def _document(block_id: str) -> str:
    return block_id.partition(".")[0]


def _better(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)
