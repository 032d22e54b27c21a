"""Reasoning that a model writes into its content, in <think>…</think> at the very start."""

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """Feed it pieces of content in order; the joined results don't depend on where the pieces were cut.

    White space before <think> and directly behind </think> belongs to neither side. A <think> further on is ordinary text.
    """

    def __init__(self) -> None:
        self._state = "start"  # start -> text, or start -> reasoning -> gap -> text
        self._held = ""

    @property
    def passes(self) -> bool:
        """Whether all that follows is text."""
        return self._state == "text"

    def feed(self, piece: str) -> tuple[str, str]:
        """(text, reasoning) that are certain by now."""
        text, reasoning = "", ""
        self._held += piece
        if self._state == "start":
            self._start()
        if self._state == "reasoning":
            reasoning = self._reasoning()
        if self._state == "gap" and (rest := self._held.lstrip()):
            self._state, self._held = "text", rest
        if self._state == "text":
            text, self._held = self._held, ""
        return text, reasoning

    def finish(self) -> tuple[str, str]:
        """What was held back: text that only began like a mark, or reasoning that never ended."""
        held, self._held = self._held, ""
        match self._state:
            case "start":
                return held, ""
            case "reasoning":
                return "", held
            case _:
                return "", ""

    def _start(self) -> None:
        opening = self._held.lstrip()
        if opening.startswith(_OPEN):
            self._state, self._held = "reasoning", opening.removeprefix(_OPEN)
        elif not _OPEN.startswith(opening):
            self._state = "text"

    def _reasoning(self) -> str:
        reasoning, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._state, self._held = "gap", rest
            return reasoning
        kept = next((size for size in range(len(_CLOSE) - 1, 0, -1) if self._held.endswith(_CLOSE[:size])), 0)
        reasoning, self._held = self._held[: len(self._held) - kept], self._held[len(self._held) - kept :]
        return reasoning
