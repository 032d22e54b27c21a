"""Look things up on a path's behalf, and let go what is judged unusable: out of the ledger and out of the context."""

import json
from collections.abc import Collection, Generator, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from api.agent.acting import act
from api.agent.budget import LimitCode
from api.agent.decisions import ToolAction
from api.agent.observation import envelope, opened
from api.agent.state import State
from api.agent.steps import Effect, Event, Noted
from api.tools.search_blocks import MAX_QUERY
from shared.telemetry import names
from shared.types.events import TurnStarted
from shared.types.runs import LedgerEntry, ToolName


class Look(Struct, frozen=True, kw_only=True):
    """One look-up that was let in. `blocks`: what it showed, best first. `place`: of its observation in the conversation."""

    query: str
    blocks: tuple[LedgerEntry, ...]
    place: int


Looking: TypeAlias = Generator[Effect, Event | None, Look | LimitCode]


def search(state: State, query: str, *, question: str, purpose: str = "search") -> Looking:
    """`question`: what is looked up; the query may be another wording of it, or a passage that nobody wrote."""
    arguments: dict[str, object] = {"query": query[:MAX_QUERY]}
    return (yield from _look(state, "search_blocks", arguments, query, question=question, purpose=purpose))


def scan(state: State, term: str, *, question: str) -> Looking:
    return (yield from _look(state, "scan_term", {"term": term}, term, question=question, purpose="scan"))


def _look(
    state: State, tool: ToolName, arguments: dict[str, object], query: str, *, question: str, purpose: str
) -> Looking:
    """The limit that refused it, if one did. The conversation shows it as an action of the model's, as the loop's are."""
    state.turn += 1
    yield TurnStarted(turn=state.turn, final=False, purpose=purpose)
    said = f"Action: {tool}[{json.dumps(arguments, ensure_ascii=False)}]"
    state.talk.say("assistant", said)
    before = len(state.let_in)
    refused = yield from act(
        state, ToolAction(thought="", tool=tool, arguments=arguments, kept=said), question=question
    )
    if refused is not None:
        return refused
    if len(state.let_in) == before:  # cut off by the clock, or the same look-up again: nothing new stands there
        return Look(query=query, blocks=(), place=-1)
    place = state.let_in[-1].place
    shown = _shown(state.talk.at(place))
    return Look(
        query=query, blocks=tuple(state.ledger.of(one)[0] for one in shown if state.ledger.of(one)), place=place
    )


def drop(
    state: State, looks: Sequence[Look], block_ids: Collection[str], *, reason: str
) -> Generator[Effect, Event | None, None]:
    """Take blocks out of the ledger and out of every observation that showed them, as if they had never been let in.

    Source: spec/05 "a correction drops them, it does not leave them lying about".
    """
    if not block_ids:
        return
    for look in looks:
        if look.place >= 0 and any(one.block_id in block_ids for one in look.blocks):
            state.talk.replace(look.place, _without(state.talk.at(look.place), block_ids, state))
    state.forget(block_ids)
    state.remembered.clear()  # what was dropped may be looked up again
    yield Noted(event=names.DROPPED, values={"blocks": len(block_ids), "reason": reason})


def kept(look: Look, dropped: Collection[str]) -> Look:
    return msgspec.structs.replace(look, blocks=tuple(one for one in look.blocks if one.block_id not in dropped))


class _Shown(Struct, frozen=True, kw_only=True):
    block_id: str = ""


def _shown(observation: str) -> list[str]:
    return [msgspec.json.decode(one, type=_Shown).block_id for one in _parts(observation)[1]]


def _parts(observation: str) -> tuple[dict[str, msgspec.Raw], list[msgspec.Raw]]:
    """The payload of a look-up, and the blocks in it, byte for byte; an error's payload has none."""
    found = opened(observation)
    assert found is not None  # it was let in as one
    payload = msgspec.json.decode(found.payload, type=dict[str, msgspec.Raw])
    return payload, msgspec.json.decode(payload.get("blocks", b"[]"), type=list[msgspec.Raw])


def _without(observation: str, block_ids: Collection[str], state: State) -> str:
    found = opened(observation)
    assert found is not None
    payload, blocks = _parts(observation)
    left = [one for one in blocks if msgspec.json.decode(one, type=_Shown).block_id not in block_ids]
    text = msgspec.json.encode({**payload, "blocks": left})
    message = state.wording.render("observation", code="dropped", count=len(blocks) - len(left))
    return envelope(found.harness_status, tool=found.tool, payload=text, message=message)
