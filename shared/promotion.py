"""An experiment that proved itself becomes the next version of the release it descends from, with the reason beside it.

Source: spec/06 "Prompt bundles"; decision 0077.
"""

from msgspec.structs import replace

from shared.bundle_files import next_version, put_bundle
from shared.bundles import Shelf, differences
from shared.errors import Conflict, InvalidArgument
from shared.prompts import Bundle, replace_file

CHANGES = "CHANGES.md"  # beside the release's bundles: what each version changed and where it came from


def promote(shelf: Shelf, name: str, *, note: str) -> str:
    """Write a frozen experiment as the next version of the release bundle that it descends from; the new version's name.

    `note`: why, for CHANGES.md. The default stays what it is until the settings say otherwise.
    Raises: NotFound; Conflict when it is a draft or a release; InvalidArgument, SettingsError, StorageError.
    """
    if not note.strip():
        raise InvalidArgument("Say in the note what is better with this wording, and how that was seen.", field="note")
    bundle = shelf.usable(name)
    if bundle.origin == "release":
        raise Conflict(f"{name} is a release already.", ids=[name])
    if bundle.manifest.state == "draft":
        raise Conflict(f"{name} is a draft. Freeze it first, so that what is released is what was tried.", ids=[name])
    ancestor = _ancestor(shelf, bundle)
    with shelf.changing():
        version = str(next_version(shelf.release / ancestor.manifest.id))
        made = f"{ancestor.manifest.id}/{version}"
        manifest = replace(bundle.manifest, id=ancestor.manifest.id, version=version, parent=ancestor.name)
        put_bundle(shelf.release / made, manifest, bundle.sources)
        changed = ", ".join(one.path for one in differences(ancestor, bundle)) or "nothing"
        lines = f"\n## {made}\nFrom {ancestor.name}, as tried in {name} ({bundle.sha256}).\nChanged: {changed}.\n\n{note.strip()}\n"
        changes = shelf.release / CHANGES
        before = changes.read_text() if changes.exists() else "# What each released prompt bundle changed\n"
        replace_file(changes, (before + lines).encode())
    return made


def _ancestor(shelf: Shelf, bundle: Bundle) -> Bundle:
    seen: set[str] = set()
    while bundle.origin == "local":
        parent = bundle.manifest.parent
        if parent is None or parent in seen:
            raise Conflict(f"{bundle.name} descends from no release.", ids=[bundle.name])
        seen.add(parent)
        bundle = shelf.load(parent)
    return bundle
