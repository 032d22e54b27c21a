"""The two protocols behind one face: what a model is offered to call, and what its reply decides. Pure."""

from typing import assert_never

from msgspec.structs import replace

from api.agent import native, react
from api.agent.decisions import Decision, Finish, ProtocolError
from api.agent.steps import Replied, Start
from api.agent.wordless import wordless
from shared.llm.port import Function


def offered(start: Start, *, final: bool) -> tuple[Function, ...]:
    """Functions to offer in a turn; none in `react`, where the prompt says what can be done. The final turn has no tools."""
    match start.protocol:
        case "react":
            return ()
        case "tools":
            return start.endings if final else (*start.functions, *start.endings)
        case _:
            assert_never(start.protocol)


def decide(reply: Replied, start: Start, *, final: bool, asked_before: bool = False) -> Decision:
    """`asked_before`: the reply before this one was text without a clear ending."""
    cut = reply.finish_reason == "length"
    decision = _decided(reply, start, final=final, asked_before=asked_before, cut=cut)
    if isinstance(decision, Finish) and wordless(decision.text, signs=not start.tools):
        problem = "cut" if decision.cut else "empty_answer"
        return ProtocolError(thought=decision.thought, problem=problem, detail="", kept=decision.kept)
    if cut and isinstance(decision, ProtocolError) and decision.problem in ("empty", "thinking_only"):
        return replace(decision, problem="reasoning_cut")  # whether or not the provider shows what the model thought
    return decision


def _decided(reply: Replied, start: Start, *, final: bool, asked_before: bool, cut: bool) -> Decision:
    match start.protocol:
        case "react" if final:
            return react.parse_final(reply.text, tools=start.tools, cut=cut)
        case "react":
            return react.parse(reply.text, tools=start.tools, cut=cut)
        case "tools" if final:
            return native.decide_last(reply.text, reply.calls, tools=start.tools, cut=cut)
        case "tools":
            return native.decide(reply.text, reply.calls, tools=start.tools, cut=cut, asked_before=asked_before)
        case _:
            assert_never(start.protocol)
