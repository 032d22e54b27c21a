"""Who may know the OpenTelemetry SDK. import-linter sees only a package's first name, and the API has the same one."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def importers(prefix: str) -> Iterator[str]:
    for package in ("api", "worker", "shared", "scripts"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                if any(name.startswith(prefix) for name in names):
                    yield path.relative_to(ROOT).parent.as_posix()


def test_the_sdk_lives_in_the_telemetry_folder() -> None:
    assert set(importers("opentelemetry.sdk")) == {"shared/telemetry"}


def test_only_the_exporter_knows_how_spans_are_sent() -> None:
    assert set(importers("opentelemetry.exporter")) == {"shared/telemetry"}
