"""What the product needs to answer: catalog, active snapshot, embedder, chat model."""

import asyncio
from collections.abc import Iterator

from scripts.citebound.console import words
from scripts.citebound.doctor.check import Check
from shared.catalog.db import open_database
from shared.catalog.imports import list_imports
from shared.catalog.snapshots import active_snapshot_id, get_snapshot
from shared.clock import now_ms
from shared.embeddings.open import open_embedder
from shared.errors import CiteboundError
from shared.layout import Layout
from shared.providers.check import check_chat, check_embedding
from shared.providers.verdict import Verdict
from shared.providers.words import told
from shared.settings import Settings


def catalog(layout: Layout) -> Iterator[Check]:
    """Imports that need a person, and the active snapshot's own words. Reads only."""
    if not layout.catalog.exists():
        yield Check(
            name="catalog", state="missing", detail="nothing imported yet", remedy="./scripts/run import FOLDER"
        )
        return
    db = open_database(layout.catalog)
    try:
        for one in list_imports(db, limit=20, now_ms=now_ms()):
            if one.state in ("failed", "paused"):
                reason = one.failure_reason or one.pause_reason or "paused by a person"
                yield Check(
                    name="import",
                    state="note",
                    detail=f"{one.import_id} {one.state}: {reason}",
                    remedy=f"./scripts/run {'resume' if one.state == 'paused' else 'retry'} {one.import_id}",
                )
        active = active_snapshot_id(db)
        if active is None:
            yield Check(
                name="snapshot", state="missing", detail="none published yet", remedy="./scripts/run import FOLDER"
            )
            return
        snapshot = get_snapshot(db, active)
        failed = len(snapshot.failed_documents)
        yield Check(
            name="snapshot",
            state="note" if failed else "ok",
            detail=f"{active}: {snapshot.documents} documents, {snapshot.blocks} blocks"
            + (f", {failed} documents failed" if failed else ""),
            remedy="./scripts/run snapshots lists them" if failed else "",
        )
    finally:
        db.close()


def embedder(settings: Settings, *, online: bool) -> Check:
    """Whether one short text can be embedded; a provider is only called with `online`."""
    if settings.embedding.provider == "openai":
        if not online:
            detail = f"{settings.embedding.model} not called"
            return Check(name="embeddings", state="note", detail=detail, remedy="--online calls it")
        return tried("embeddings", asyncio.run(check_embedding(settings.embedding)))
    try:
        model = open_embedder(settings.embedding, threads=1)
        try:
            model.embed_passages(["试一试 test"])
            return Check(name="embeddings", state="ok", detail=f"{model.version}, {model.dimensions} dimensions")
        finally:
            model.close()
    except CiteboundError as error:
        return Check(
            name="embeddings",
            state="broken",
            detail=f"{error.message} ({error.code})",
            remedy="install again: remove .venv, then ./scripts/run",
        )


def chat(settings: Settings, *, online: bool) -> Check:
    """Whether the configured model answers; only called with `online`."""
    if settings.chat.base_url is None:
        return Check(
            name="chat model",
            state="note",
            detail="none: answers are quotations (extractive)",
            remedy="connect one on the page of settings, or set CITEBOUND_CHAT_BASE_URL, CITEBOUND_CHAT_MODEL and CITEBOUND_CHAT_API_KEY",
        )
    if not online:
        return Check(
            name="chat model", state="note", detail=f"{settings.chat.model} not called", remedy="--online calls it"
        )
    return tried("chat model", asyncio.run(check_chat(settings.chat)))


def tried(name: str, verdict: Verdict) -> Check:
    """A provider's answer as a finding, in the words that the page of settings uses too."""
    said = told(verdict)
    what, remedy = words(said.en.what, said.zh.what), words(said.en.remedy, said.zh.remedy)
    if verdict.is_fine:
        return Check(name=name, state="ok", detail=what)
    return Check(name=name, state="broken", detail=f"{what} ({verdict.code}) {verdict.detail}".strip(), remedy=remedy)
