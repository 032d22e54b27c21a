"""The five tools as their callers know them: descriptors, and the toolbox that runs one by name."""

from api.tools.contract import TOOL_CONTRACT_VERSION, Descriptor, SeenBlock, ToolResult
from api.tools.toolbox import DESCRIPTORS, Toolbox

__all__ = ["DESCRIPTORS", "TOOL_CONTRACT_VERSION", "Descriptor", "SeenBlock", "ToolResult", "Toolbox"]
