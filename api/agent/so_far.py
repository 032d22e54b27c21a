"""What a run has come to while it is under way: for whoever must record it when it is cut off."""

from msgspec import Struct

from api.agent import metering
from api.agent.metering import Heard, Sent, Told
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
        ask, said = self.call.ask, "".join(self.call.heard)
        sent = Sent(
            context=self.state.talk.context,
            tokens=ask.input_tokens,
            counted=self.state.talk.counted,
            asked=ask.max_output_tokens,
        )
        heard = Heard(tokens=count_tokens(said), begun=bool(said))
        return metering.charged(self.state.spent, sent, heard, Told(), self.state.rates)
