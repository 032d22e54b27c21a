"""What a model's reply comes to, in whichever protocol it was said: one action, one ending, or what was wrong with it."""

from typing import Literal, TypeAlias

from msgspec import Struct

from shared.llm.port import FunctionCall

Ending = Literal["answer", "refusal", "clarification"]
Problem = Literal[
    "empty",  # nothing but white space
    "thinking_only",  # hidden reasoning that never came to a decision
    "no_action",
    "several_actions",
    "no_brackets",  # an action's name without [...]
    "not_an_object",  # arguments that are no JSON object
    "bad_json",
    "cut",  # the output limit came before the action's end
    "reasoning_cut",  # it came before the model had written anything: hidden reasoning took all of it
    "empty_answer",
    "no_ending",  # text that cites nothing: is it an answer, a refusal or a question?
]

# Why a run is broken that ends with such a reply: more output would have helped.
TOO_SHORT: dict[str, str] = {"cut": "reply_cut", "reasoning_cut": "reasoning_cut"}


class ToolAction(Struct, frozen=True, kw_only=True):
    """`tool`: as the model wrote it, maybe unknown. `kept`: the reply up to the action's end, as it goes into the history.

    `call`: the same action as a native call, which the history keeps instead. `dropped`: further calls of the same reply.
    """

    thought: str
    tool: str
    arguments: dict[str, object]
    kept: str
    call: FunctionCall | None = None
    dropped: int = 0


class Finish(Struct, frozen=True, kw_only=True):
    """`cut`: the output limit came before the closing bracket."""

    thought: str
    ending: Ending
    text: str
    kept: str
    cut: bool = False


class ProtocolError(Struct, frozen=True, kw_only=True):
    """`detail`: what exactly, for the model; may be empty. `call`: the native call it is about, fit for the history."""

    thought: str
    problem: Problem
    detail: str
    kept: str
    call: FunctionCall | None = None


Decision: TypeAlias = ToolAction | Finish | ProtocolError
