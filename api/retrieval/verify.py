"""Whether a snapshot is what its manifest says. Pure."""

import hashlib
from collections.abc import Sequence

import msgspec

from shared.catalog.snapshot_reads import DocumentFacts
from shared.errors import CollectionUnavailable
from shared.types.snapshots import Snapshot, SnapshotManifest

_MANIFEST = msgspec.json.Decoder(SnapshotManifest)


def checked_manifest(snapshot: Snapshot, text: str | None) -> SnapshotManifest:
    """Decode the stored manifest. Raises: CollectionUnavailable when it isn't the one that was published."""
    if text is None or snapshot.manifest_sha256 is None:
        raise _broken(snapshot, "it has no manifest")
    found = hashlib.sha256(text.encode()).hexdigest()
    if found != snapshot.manifest_sha256:
        raise _broken(snapshot, f"its manifest hashes to {found[:12]}…, {snapshot.manifest_sha256[:12]}… was published")
    try:
        return _MANIFEST.decode(text)
    except msgspec.MsgspecError as error:
        raise _broken(snapshot, f"its manifest can't be read ({error})") from error


def check_facts(
    snapshot: Snapshot, manifest: SnapshotManifest, facts: Sequence[DocumentFacts], *, membership_sha256: str
) -> None:
    """Compare the manifest with the snapshot's row and with what the catalog holds.

    facts: of every member, by doc_id. membership_sha256: of all that the catalog says of the members and gaps now.
    Raises: CollectionUnavailable naming the first fact that differs.
    Source: spec/02 "Storage".
    """
    for what, row, sealed in (
        ("snapshot_id", snapshot.snapshot_id, manifest.snapshot_id),
        ("embedding_version", snapshot.embedding_version, manifest.embedding_version),
        ("dimensions", snapshot.dimensions, manifest.dimensions),
        ("keyword_version", snapshot.keyword_version, manifest.keyword_version),
        ("document count", snapshot.documents, len(manifest.documents)),
        ("failed document count", len(snapshot.failed_documents), manifest.failed),
        ("section count", sum(fact.sections for fact in facts), manifest.sections),
        ("block count", sum(fact.blocks for fact in facts), manifest.blocks),
        ("recorded block count", snapshot.blocks, manifest.blocks),
    ):
        if row != sealed:
            raise _broken(snapshot, f"its {what} is {row}, the manifest says {sealed}")
    found = {fact.doc_id: fact for fact in facts}
    for sealed in manifest.documents:
        fact = found.pop(sealed.doc_id, None)
        if fact is None:
            raise _broken(snapshot, f"document {sealed.doc_id} is missing")
        for what, row, expected in (
            ("version", fact.version, sealed.version),
            ("artifact_sha256", fact.artifact_sha256, sealed.artifact_sha256),
            ("version's artifact_sha256", fact.version_artifact_sha256, sealed.artifact_sha256),
            ("section count", fact.sections, sealed.sections),
            ("block count", fact.blocks, sealed.blocks),
        ):
            if row != expected:
                raise _broken(snapshot, f"document {sealed.doc_id}'s {what} is {row}, the manifest says {expected}")
    if found:
        raise _broken(snapshot, f"document {min(found)} is not in the manifest")
    if manifest.membership_sha256 not in ("", membership_sha256):
        raise _broken(snapshot, "a label, title, time or reason of its documents was changed")


def check_collection(snapshot: Snapshot, manifest: SnapshotManifest, points: int) -> None:
    """Raises: CollectionUnavailable."""
    if points != manifest.blocks:
        raise _broken(snapshot, f"its collection holds {points} blocks, the manifest says {manifest.blocks}")


def _broken(snapshot: Snapshot, fact: str) -> CollectionUnavailable:
    return CollectionUnavailable(
        f"Snapshot {snapshot.snapshot_id} is not what was published: {fact}.",
        ids=[snapshot.snapshot_id],
    )
