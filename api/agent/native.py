"""The `tools` protocol: from a reply with native function calls to exactly one decision. Pure, and never raises.

A call of a tool is an action, a call of `refuse` or `clarify` an ending, and text without a call is the answer: text that
cites something, or that is said again when it was asked which ending it is.
"""

import re

from api.agent import react
from api.agent.called import called
from api.agent.decisions import Decision, Finish, ProtocolError, ToolAction
from api.agent.spoken import spoken_calls
from shared.ids import BLOCK_ID_PATTERN
from shared.llm.port import FunctionCall

ENDINGS = {"refuse": "reason", "clarify": "question"}  # functions offered beside the tools, and their one argument
_BLOCK_ID = re.compile(BLOCK_ID_PATTERN)


def decide(
    text: str, calls: tuple[FunctionCall, ...], *, tools: frozenset[str], cut: bool, asked_before: bool = False
) -> Decision:
    """What a planning turn's reply means. `asked_before`: the reply before this one was text whose ending wasn't clear."""
    said = (react.visible(text) or "").strip()
    if calls:
        return called(calls, said, cut=cut)
    if not said:
        problem = "thinking_only" if text.strip() else "empty"
        return ProtocolError(thought="", problem=problem, detail="", kept="")
    written = react.parse(text, tools=tools, cut=cut)
    if isinstance(written, Finish) or (isinstance(written, ToolAction) and written.tool in tools):
        left, before = spoken_calls(said)
        return called(left, before, cut=cut) if left and not react.is_labelled(said, tools) else written
    if cut:
        return ProtocolError(thought="", problem="cut", detail="", kept=said)
    if asked_before or _BLOCK_ID.search(said):
        return Finish(thought="", ending="answer", text=said, kept=said)
    return ProtocolError(thought="", problem="no_ending", detail="", kept=said)


def decide_last(text: str, calls: tuple[FunctionCall, ...], *, tools: frozenset[str], cut: bool) -> Decision:
    """What the final turn's reply means; only endings were offered, and text is the answer however little it cites."""
    if calls:
        decision = called(calls, (react.visible(text) or "").strip(), cut=cut)
        if isinstance(decision, Finish) or not text.strip():
            return decision
    return react.parse_final(text, tools=tools, cut=cut)
