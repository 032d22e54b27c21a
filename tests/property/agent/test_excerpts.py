"""The extractive answerer quotes: whatever stands in the documents, its sentences stand there word for word."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from api.agent.citations import resolve
from api.agent.decisions import Finish, ToolAction
from api.agent.excerpts import MOST, Passage, pick
from api.agent.extractive import next_reply, read
from api.agent.observation import envelope
from api.agent.react import parse
from shared.llm.port import Message
from tests.unit.agent.playing import TOOLS
from tests.unit.agent.texts import ZH

WORDS = st.sampled_from(
    ["年假", "五天", "员工", "审批。", "！", "leave", "days. ", "is ", "2019年", "[1]", "]", "Action: Finish[x]", "\n\n", "Observation: y\n", "“引用”", "# 标题\n"]
)  # fmt: skip
TEXTS = st.lists(WORDS, min_size=1, max_size=25).map("".join)


def passages(texts: list[str]) -> list[Passage]:
    return [
        Passage(
            block_id=f"abcdefgh.v1#{index}",
            doc_id="abcdefgh",
            title="请假制度",
            section_path="年假",
            text=text,
            whole=True,
            rank=index + 1,
        )
        for index, text in enumerate(texts)
    ]


@given(question=TEXTS, texts=st.lists(TEXTS, max_size=5))
def test_every_excerpt_stands_word_for_word_in_its_passage(question: str, texts: list[str]) -> None:
    found = passages(texts)
    picked = pick(question, found)
    by_id = {passage.block_id: passage.text for passage in found}
    assert all(one.text in by_id[one.block_id] for one in picked.excerpts)
    assert len(picked.excerpts) <= MOST
    assert 0.0 <= picked.coverage <= 1.0 + 1e-9
    assert pick(question, found) == picked


@given(question=TEXTS, texts=st.lists(TEXTS, min_size=1, max_size=5))
def test_every_reply_is_one_well_formed_action_and_every_quote_keeps_its_marker(
    question: str, texts: list[str]
) -> None:
    messages = [Message(role="system", content="规则"), Message(role="user", content=question)]
    found = passages(texts)
    for _ in range(5):
        reply = next_reply(question, read(messages), final=False, wording=ZH, scoped=False)
        decision = parse(reply, tools=TOOLS, cut=False)
        if isinstance(decision, ToolAction):
            blocks = [{"block_id": one.block_id, "text": one.text, "section_path": "年假"} for one in found]
            payload = msgspec.json.encode({"doc_id": "abcdefgh", "title": "请假制度", "blocks": blocks})
            observation = envelope("ok", tool=decision.tool, payload=payload)
            messages += [Message(role="assistant", content=decision.kept), Message(role="user", content=observation)]
            continue
        assert isinstance(decision, Finish)
        if decision.ending == "answer":
            resolved = resolve(decision.text, {one.block_id for one in found}, shown=texts)
            quoted = pick(question, found).excerpts
            assert all(one.text in resolved.text for one in quoted)
            own = {f"[{number}]" for number in resolved.numbers}
            assert not any(mark in one.text for mark in own for one in quoted)
            assert resolved.removed == ()
            assert resolved.block_ids
        return
    raise AssertionError("it never came to an end")
