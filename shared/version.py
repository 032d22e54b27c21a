"""Which version of the application this is, and of which files it is built."""

import hashlib
from functools import cache
from pathlib import Path

APP_VERSION = "0.1.0"  # as in pyproject.toml
_ROOT = Path(__file__).resolve().parents[1]
_ANSWERING = ("api", "shared")  # the packages that take part in an answer; prompts have hashes of their own


@cache
def app_build() -> str:
    """A SHA-256 over the program's modules: the same version with one changed line is another build. Reads files, once."""
    whole = hashlib.sha256()
    for path in sorted(path for package in _ANSWERING for path in (_ROOT / package).rglob("*.py")):
        whole.update(f"{path.relative_to(_ROOT).as_posix()}\0".encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
