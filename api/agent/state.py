"""What a run knows of itself between two decisions."""

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from api.agent import brakes, budget, metering
from api.agent.budget import Verdict
from api.agent.conversation import Conversation
from api.agent.decisions import Decision, Finish, ProtocolError
from api.agent.ledger import Fetch, Ledger
from api.agent.limiting import limitation
from api.agent.metering import Context, Rates
from api.agent.observation import HarnessStatus
from api.agent.steps import Broken, CountTokens, Outcome, Start, Wording
from api.tools.contract import SeenBlock, ToolResult
from shared.types.events import ToolResulted
from shared.types.runs import Limitation, Usage


class LetIn(Struct, frozen=True, kw_only=True):
    """An observation that was let in. `place`: in the conversation. `seen`: what it shows still. `result`: what was told of it."""

    place: int
    seen: tuple[SeenBlock, ...]
    fetch: Fetch
    result: ToolResulted


class State:
    """Owned by one loop; the generators of loop.py, asking.py and acting.py change it in turn."""

    def __init__(self, start: Start, *, wording: Wording, count: CountTokens) -> None:
        self.start = start
        self.limits = start.limits
        self.deadlines = brakes.deadlines(start.limits)
        self.wording = wording
        self.count = count
        self.talk = Conversation(count)
        self.spent = Usage()
        self.rates = Rates()
        self.ledger = Ledger()
        self.limitations: list[Limitation] = []
        self.turn = 0
        self.elapsed_ms = 0
        self.no_gain = 0
        self.misspoken = 0
        self.asked_for_ending = False  # the last reply was text, and what it ends is being asked
        self.remembered: dict[tuple[str, bytes], tuple[int, bool]] = {}  # call -> (turn, it showed blocks)
        self.let_in: list[LetIn] = []  # in order: the ledger is what they show

    def heard(self, decision: Decision, *, reasoning: str) -> None:
        """Put a reply into the conversation, as far as it is kept. `reasoning`: what must go back with a call.

        Of one that can't be used no more than was asked for: a provider that overran must not fill the context with it.
        """
        kept = decision.kept
        if isinstance(decision, ProtocolError):
            kept, reasoning = self._as_asked(kept), self._as_asked(reasoning)
        before = self.talk.context.added
        if not isinstance(decision, Finish) and decision.call is not None:
            self.talk.call(kept, decision.call, reasoning=reasoning)
        elif kept:  # some providers refuse an empty message
            self.talk.say("assistant", kept)
        entered = self.talk.context.added - before
        self.rates = metering.kept(self.rates, entered, asked=budget.reply_room(self.limits))

    def _as_asked(self, text: str) -> str:
        """Its beginning, as long as a reply may be."""
        most_tokens = budget.reply_room(self.limits)
        while (tokens := self.count(text)) > most_tokens:
            text = text[: len(text) * most_tokens // tokens]
        return text

    def let(self, observation: LetIn) -> None:
        """Count what an observation shows as evidence."""
        self.let_in.append(observation)
        self.ledger = self.ledger.admit(observation.seen, observation.fetch)

    def withdraw(self, observation: LetIn) -> None:
        """Make what only this observation shows no evidence any more."""
        self.let_in.remove(observation)
        self.ledger = Ledger()
        for one in self.let_in:
            self.ledger = self.ledger.admit(one.seen, one.fetch)

    def forget(self, block_ids: Collection[str]) -> None:
        """Make these blocks no evidence any more, whatever showed them."""
        self.let_in = [
            replace(one, seen=tuple(block for block in one.seen if block.block_id not in block_ids))
            for one in self.let_in
        ]
        self.ledger = self.ledger.without(block_ids)

    def afford(self, *, final: bool, context: Context | None = None) -> Verdict:
        """Whether a call may be made, and the last one after it if it isn't the last. `context`: of another conversation than the run's."""
        decide = budget.afford_final if final else budget.afford_turn
        context = self.talk.context if context is None else context
        return decide(context=context, spent=self.spent, limits=self.limits, rates=self.rates)

    def learn_window(self, window_tokens: int) -> None:
        """The model takes less at once than was thought: keep to it from here on."""
        limits = budget.within_window(self.limits, window_tokens)
        if limits != self.limits:
            self.limits = limits
            self.limit("provider_window", window=window_tokens)

    def limit(self, code: str, **values: object) -> None:
        told = limitation(self.wording, code, **values)
        if told not in self.limitations:
            self.limitations.append(told)

    def has_limit(self, code: str) -> bool:
        return any(one.code == code for one in self.limitations)

    def count_tool_call(self) -> None:
        self.spent = replace(self.spent, tool_calls=self.spent.tool_calls + 1)

    def count_retrieval(self, result: ToolResult) -> None:
        self.spent = replace(
            self.spent,
            embedding_tokens=self.spent.embedding_tokens + result.embedding_tokens,
            rerank_tokens=self.spent.rerank_tokens + result.rerank_tokens,
        )

    def resulted(
        self,
        tool: str,
        status: HarnessStatus,
        *,
        tokens: int,
        size: str | None = None,
        blocks: int,
        admitted: bool = True,
        error: str | None = None,
    ) -> ToolResulted:
        """`size`: `tokens` as they are told, where they were not counted."""
        return ToolResulted(
            turn=self.turn,
            tool=tool,
            harness_status=status,
            admitted=admitted,
            tokens=tokens,
            blocks=blocks,
            summary=self.wording.render("summary", status=status, blocks=blocks, tokens=size or tokens, error=error),
        )

    def outcome(self, ending: Finish | Broken, *, reason: str, closed: str | None) -> Outcome:
        return Outcome(
            ending=ending,
            reason=reason,
            closed=closed,
            ledger=self.ledger,
            spent=self.spent,
            limitations=tuple(self.limitations),
            turns=self.turn,
        )

    def broken(self, code: str, message: str, *, retryable: bool = False, closed: str | None = None) -> Outcome:
        return self.outcome(Broken(code=code, message=message, retryable=retryable), reason=code, closed=closed)
