"""What a run has come to while it is under way: for whoever must record it when it is cut off."""

from msgspec import Struct

from api.agent import budget
from api.agent.state import State
from api.agent.steps import AskModel
from shared.text.tokens import count_tokens
from shared.types.runs import LedgerEntry, RecordedCall, Retrieval, RunManifest, Scope, Usage


class Call(Struct, kw_only=True):
    """A model call without an answer yet. `heard`: the pieces of text and of reasoning that came so far."""

    ask: AskModel
    heard: list[str]


class RunSoFar:
    """Hand an empty one to `run_agent` and read it whenever the run has ended, however that was.

    `manifest` None: the run was cut off before anything was asked.
    """

    def __init__(self) -> None:
        self.manifest: RunManifest | None = None
        self.state: State | None = None  # the loop's own, never changed from here
        self.call: Call | None = None
        self.calls: list[RecordedCall] = []  # of tools, in order

    def ledger(self) -> tuple[LedgerEntry, ...]:
        return () if self.state is None else self.state.ledger.entries

    def retrieval(self, scope: Scope | None) -> Retrieval:
        return Retrieval(scope=scope, calls=tuple(self.calls))

    def usage(self) -> Usage:
        """Everything spent, with our estimate of a call that was never answered. Counts the tokens of what came of that call."""
        if self.state is None:
            return Usage()
        if self.call is None:
            return self.state.spent
        received = count_tokens("".join(self.call.heard))
        return budget.charged(
            self.state.spent,
            sent_tokens=self.call.ask.input_tokens,
            reply_tokens=received,
            asked_tokens=self.call.ask.max_output_tokens,
            usage=None,
        )
