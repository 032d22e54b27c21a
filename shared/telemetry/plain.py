"""Attributes of a span as a dict of Python's own."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from opentelemetry.attributes import BoundedAttributes


def plain(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy, made in one step where OpenTelemetry's own kinds allow it: read key by key they cost a lock and two calls each."""
    if isinstance(attributes, MappingProxyType | BoundedAttributes | dict):
        copied: dict[str, Any] = attributes.copy()  # pyright: ignore[reportAssignmentType]  MutableMapping where the stubs say so
        return copied
    return dict(attributes or {})
