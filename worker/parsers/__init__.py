"""Files in, elements out. Nothing heavy is imported here: the formats live in the child process."""

from worker.parsers.pool import ParserPool
from worker.parsers.types import PARSER_VERSION, Element, Parsed

__all__ = ["PARSER_VERSION", "Element", "Parsed", "ParserPool"]
