"""Write the hashes of a bundle's templates into its manifest: for whoever makes a new version of a bundle."""

import sys
from pathlib import Path

from api.agent.loop import LOOP_VERSION
from api.tools.registry import TOOL_CONTRACT_VERSION
from shared.prompts import BundleManifest, file_hashes, write_manifest


def seal(root: Path, *, parent: str | None) -> None:
    manifest = BundleManifest(
        id=root.parent.name,
        version=root.name,
        parent=parent,
        contracts={"loop": LOOP_VERSION, "protocol": "react, tools", "tools": TOOL_CONTRACT_VERSION},
        files=file_hashes(root),
    )
    write_manifest(root, manifest)


if __name__ == "__main__":
    seal(Path(sys.argv[1]), parent=sys.argv[2] if len(sys.argv) > 2 else None)
