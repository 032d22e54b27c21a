"""Whether candidates are reranked, and whether who does it answers."""

import asyncio

from scripts.citebound.doctor.check import Check
from shared.errors import CiteboundError
from shared.rerank.open import open_reranker
from shared.settings import Settings


def reranker(settings: Settings, *, online: bool) -> Check:
    """Off is as good as on; only called with `online`."""
    rerank = settings.rerank
    if rerank.base_url is None:
        return Check(name="rerank", state="ok", detail="off: candidates stand in the order of the search")
    shown = f"{rerank.model}, the first {rerank.depth} candidates of every search"
    if not online:
        return Check(name="rerank", state="note", detail=f"{shown}; not called", remedy="--online calls it")

    async def try_out() -> None:
        model = open_reranker(rerank)
        assert model is not None
        try:
            await model.rerank("试一试", ["试一试 test", "other"])
        finally:
            await model.close()

    try:
        asyncio.run(try_out())
        return Check(name="rerank", state="ok", detail=f"{shown}; answers")
    except CiteboundError as error:
        return Check(
            name="rerank",
            state="broken",
            detail=f"{error.message} ({error.code}); searches fail until it answers",
            remedy="correct CITEBOUND_RERANK_BASE_URL, _MODEL, _API or _API_KEY; unset the first two to search without it",
        )
