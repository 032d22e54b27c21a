"""Walk a path without a model, a tool or a clock: a script answers its effects, the release's words are spoken."""

from collections.abc import Callable, Iterable

from api.agent.ending import Steps
from api.agent.paths.router import Reason, Route
from api.agent.paths.walk import walk
from api.agent.prompting import Asked
from api.agent.state import State
from api.agent.steps import Noted
from api.tools.contract import SeenBlock
from shared.ids import BlockId, DocId
from shared.types.events import TurnStarted
from shared.types.runs import Limits, PathName, ProtocolName
from tests.unit.agent.playing import NOW_MS, Played, Reaction, Scripted, play
from tests.unit.agent.texts import ZH


def walked(
    path: PathName,
    question: str,
    script: Iterable[Scripted] | Reaction,
    *,
    plain: str | None = None,
    reason: Reason = "forced",
    limits: Limits | None = None,
    protocol: ProtocolName = "react",
    strict: bool = False,
    around: Callable[[Steps, State], Steps] = lambda steps, _: steps,
) -> Played:
    """`plain`: the question standing alone, where it doesn't. `around`: what the path runs within."""
    asked = Asked(question=question, plain=plain or question)
    route = Route(path=path, reason=reason)
    return play(
        script,
        limits=limits,
        protocol=protocol,
        wording=ZH,
        around=lambda _, state: around(walk(state, asked, route, has_model=True, strict=strict), state),
    )


def seen(index: int, text: str, *, doc: str = "abcdefgh", title: str = "请假制度") -> SeenBlock:
    return SeenBlock(
        block_id=BlockId(f"{doc}.v1#{index}"),
        doc_id=DocId(doc),
        version=1,
        title=title,
        source_label="手册",
        section_path="总则",
        page_first=None,
        page_last=None,
        trust="internal",
        updated_at_ms=NOW_MS,
        extent="block",
        seen=text,
        span_start=100 * index,
        span_end=100 * index + len(text),
        rank=index + 1,
    )


def purposes(played: Played) -> list[str]:
    """What the turns were for; "" = the model decided."""
    return [note.purpose for note in played.notes if isinstance(note, TurnStarted)]


def events(played: Played, name: str) -> list[dict[str, str | int | float | bool]]:
    return [note.values for note in played.notes if isinstance(note, Noted) and note.event == name]


def held(played: Played) -> list[str]:
    """Block ids in the ledger at the end."""
    return list(played.outcome.ledger.blocks)
