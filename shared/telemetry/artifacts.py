"""Full contents beside a span: the prompt as sent, a tool's payload, the answer."""

import hashlib

from opentelemetry.trace import Span


def attach(span: Span, name: str, text: str) -> None:
    """Refer to `text` from the span by hash and size."""
    data = text.encode()
    span.set_attribute(f"citebound.artifact.{name}.sha256", hashlib.sha256(data).hexdigest())
    span.set_attribute(f"citebound.artifact.{name}.bytes", len(data))
