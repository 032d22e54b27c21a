"""Whether candidates are reranked, and whether who does it answers."""

import asyncio

from msgspec.structs import replace

from scripts.citebound.doctor.check import Check
from scripts.citebound.doctor.contents import tried
from shared.providers.check import check_rerank
from shared.settings import Settings


def reranker(settings: Settings, *, online: bool) -> Check:
    """Off is as good as on; only called with `online`."""
    rerank = settings.rerank
    if rerank.base_url is None:
        return Check(name="rerank", state="ok", detail="off: candidates stand in the order of the search")
    shown = f"{rerank.model}, the first {rerank.depth} candidates of every search"
    if not online:
        return Check(name="rerank", state="note", detail=f"{shown}; not called", remedy="--online calls it")
    check = tried("rerank", asyncio.run(check_rerank(rerank)))
    fate = "" if check.state == "ok" else "; searches fail until it answers"
    return replace(check, detail=f"{shown}{fate}. {check.detail}")
