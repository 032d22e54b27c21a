"""How a server's failures reach the program."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from qdrant_client import QdrantClient, models

from shared.errors import CollectionUnavailable, UpstreamError
from shared.settings import QdrantSettings
from shared.vectors.keywords import NONE
from shared.vectors.open import open_vectors
from shared.vectors.server import ServerCollection, ServerVectors
from tests.contract.vectors.points import EVERYTHING, vector


@contextmanager
def answering(status: int) -> Generator[str]:
    """A server that answers everything with one status."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"status": {"error": "不可用"}, "time": 0.0}).encode()
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_DELETE = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_a_failing_server_is_an_upstream_error_that_may_be_retried(status: int, tmp_path: Path) -> None:
    with answering(status) as url:
        vectors = open_vectors(QdrantSettings(url=url), tmp_path)
        for attempt in (
            vectors.names,
            lambda: vectors.build("snap_1", dimensions=3),
            lambda: vectors.open("snap_1", files={}),
            lambda: vectors.drop("snap_1"),
        ):
            with pytest.raises(UpstreamError) as caught:
                attempt()
            assert caught.value.code == "upstream_unavailable"
            assert caught.value.retryable


def test_no_server_at_all_is_an_upstream_error(tmp_path: Path) -> None:
    with answering(500) as url:
        pass
    with pytest.raises(UpstreamError):
        open_vectors(QdrantSettings(url=url), tmp_path).names()


def test_a_collection_that_vanished_from_the_server_is_unavailable() -> None:
    with answering(404) as url:
        client = QdrantClient(url=url, check_compatibility=False)
        collection = ServerCollection(client, "citebound.snap_1.0a1b2c3d", NONE)
        for attempt in (
            collection.count,
            lambda: list(collection.block_ids()),
            lambda: collection.dense(vector(1, 0, 0), within=EVERYTHING, limit=5),
        ):
            with pytest.raises(CollectionUnavailable):
                attempt()
        client.close()


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
def test_other_collections_on_a_shared_server_are_left_alone() -> None:
    client = QdrantClient(":memory:")
    client.create_collection("someone-elses", vectors_config=models.VectorParams(size=3, distance=models.Distance.DOT))
    vectors = ServerVectors(client)
    vectors.build("snap_1", dimensions=3).seal()
    vectors.build("snap_1-b", dimensions=3).seal()
    vectors.drop("snap_1")
    assert vectors.names() == ["snap_1-b"]
    assert client.collection_exists("someone-elses")
    client.close()
