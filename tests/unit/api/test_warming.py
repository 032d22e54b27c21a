"""What is loaded behind a server that is already up."""

import asyncio
import threading

from litestar import Litestar
from litestar.openapi.spec import OpenAPI

from api.app import Warming
from shared.embeddings.fake import FakeEmbedder


class Described(Litestar):
    """Remembers which threads described it."""

    @property
    def openapi_schema(self) -> OpenAPI:
        threads.append(threading.current_thread().name)
        return super().openapi_schema


threads: list[str] = []


def test_the_description_of_the_api_is_made_in_the_background_and_not_by_its_first_reader() -> None:
    threads.clear()
    warming = Warming(FakeEmbedder())
    warming.start(Described())
    asyncio.run(warming.finish())
    assert (warming.state, threads) == ("ready", ["warm-up"])
