"""Where things lie in the data folder."""

from pathlib import Path
from typing import Final

from msgspec import Struct

# Bytes free on the disk of the data folder beneath which people are warned; beneath which nothing can be counted on.
TIGHT_BYTES: Final = 1024**3
FULL_BYTES: Final = 200 * 1024**2


class Layout(Struct, frozen=True):
    root: Path

    @property
    def catalog(self) -> Path:
        return self.root / "catalog.db"

    @property
    def embeddings(self) -> Path:
        return self.root / "embeddings.db"

    @property
    def traces(self) -> Path:
        return self.root / "traces.db"

    @property
    def originals(self) -> Path:
        """Content-addressed: uploaded files and the parse stage's checkpoints."""
        return self.root / "blobs"

    @property
    def artifacts(self) -> Path:
        """Content-addressed: contents that spans refer to."""
        return self.root / "artifacts"

    @property
    def collections(self) -> Path:
        return self.root / "collections"

    @property
    def prompts(self) -> Path:
        """Prompt bundles that somebody tries out; made with the first one."""
        return self.root / "prompts"

    @property
    def sweeps(self) -> Path:
        """Says that the catalog beside it is this folder's own: see worker/sweeps.py."""
        return self.root / "sweeps"

    @property
    def links_key(self) -> Path:
        """Secret that signs links to blocks."""
        return self.root / "links.key"

    @property
    def broker(self) -> Path:
        return self.root / "valkey"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def reserve(self) -> Path:
        """Takes up room that is given back when the disk is full."""
        return self.root / "reserve"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def running(self) -> Path:
        """Address and process ids of the instance that holds the lock."""
        return self.root / "run.json"

    def create(self) -> None:
        """Raises: OSError when the folder can't be written."""
        for folder in (self.root, self.originals, self.artifacts, self.collections, self.broker, self.logs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
