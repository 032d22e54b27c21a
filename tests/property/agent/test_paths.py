"""Whatever a provider and the tools do, every path keeps the limits, pays for every token and ends once: as the loop does."""

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.agent.wordless import wordless
from shared.types.runs import Limits, PathName, ProtocolName
from tests.promises import promise
from tests.property.agent.providers import LIMITS, Player
from tests.unit.agent.finished import finish
from tests.unit.agent.paths.walking import walked
from tests.unit.agent.playing import DOC
from tests.unit.agent.texts import ZH

PLAN: dict[str, object] = {
    "questions": [
        {"id": "a", "question": "年假有几天？", "gives": ["x"]},
        {"id": "b", "question": "{a.x}的依据？"},
        {"id": "c", "question": "病假有几天？"},
    ]
}
OBJECTS: tuple[dict[str, object], ...] = (
    PLAN,
    {"query": "年假"},
    {"queries": ["休假", "假期"]},
    {"passage": "员工享有若干天年假。"},
    {"fields": {"x": "段"}},
    {"verdicts": {"1": "contradicted", "2": "supported"}},
    {"question": "病假有几天？"},
    {"questions": [{"id": "a", "question": "{a.x}"}]},
)
REPLIES = (
    *(json.dumps(one, ensure_ascii=False) for one in OBJECTS),
    f"Action: Finish[年假五天【来源：{DOC}.v1#0】。病假99天。]",
    "Action: Refuse[没有]",
    "Action: Finish[……]",
    f"## 结论\n[]【来源：{DOC}.v1#0】",
    "👍",
    "",
)


@promise("P4")
@pytest.mark.parametrize("path", ["direct", "pipeline", "agent", "plan", "verify"])
@settings(max_examples=60, deadline=None)
@given(data=st.data(), limits=LIMITS, forced=st.booleans(), leans=st.booleans())
def test_every_path_ends_once_within_its_limits_and_pays_for_every_token(
    path: PathName, data: st.DataObject, limits: Limits, forced: bool, leans: bool
) -> None:
    protocol = data.draw(st.sampled_from(get_args(ProtocolName)))
    player = Player(data, limits, protocol, extra=REPLIES)
    played = walked(
        path,
        "E-7 和年假？" if data.draw(st.booleans()) else "年假有几天？",
        player,
        plain="病假有几天？" if leans else None,
        reason="forced" if forced else "question",
        limits=limits,
        protocol=protocol,
        strict=data.draw(st.booleans()),
        around=player.watching,
    )
    spent = played.outcome.spent
    assert spent.tool_calls <= limits.max_tool_calls
    player.check(played)
    assert len(played.asked) <= 2 * (3 * limits.max_tool_calls + 12)
    assert {entry.block_id for entry in played.outcome.ledger.entries} <= player.shown
    verified = finish(played.outcome, wording=ZH)
    assert not wordless(verified.text, signs=path == "direct")
    assert {citation.block_id for citation in verified.citations} <= set(played.outcome.ledger.blocks)
