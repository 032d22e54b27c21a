"""The five tools by name, and the one place where they are called."""

from api.retrieval.library import Pinned
from api.tools.contract import TOOL_CONTRACT_VERSION, Descriptor, SeenBlock, ToolResult
from shared.ids import DocId

__all__ = ["DESCRIPTORS", "TOOL_CONTRACT_VERSION", "Descriptor", "SeenBlock", "ToolResult", "Toolbox"]

DESCRIPTORS: tuple[Descriptor, ...] = ()


class Toolbox:
    """The tools of one run: on its pinned snapshot, inside its scope."""

    def __init__(self, pinned: Pinned, *, scope: frozenset[DocId] | None = None) -> None:
        self._pinned = pinned
        self._scope = scope

    async def call(self, name: str, arguments: object) -> ToolResult:
        """Run a tool on decoded JSON; business and execution errors are results.

        A retryable upstream fault is tried once more, both attempts as spans.
        """
        raise NotImplementedError
