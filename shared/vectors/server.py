"""A Qdrant server: the same layout and arithmetic as the embedded engine, over HTTP.

citebound.NAME.SUFFIX   a collection, sealed or not; SUFFIX is new for every build
citebound.NAME          an alias, made when the collection is sealed: what has no alias is invisible
citebound.NAME.SUFFIX.f how often each keyword occurs (keywords.py), written when it is sealed

No graph and exact search, so that hits equal the embedded engine's. Every collection is built from nothing, whatever its base.
"""

import base64
import re
import secrets
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import cast

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from shared.access import EVERYONE
from shared.errors import CollectionUnavailable, Conflict, UpstreamError
from shared.ids import BlockId
from shared.vectors.keywords import Frequencies, Tally, decode, stored
from shared.vectors.point_ids import pack, unpack
from shared.vectors.port import Base, Dense, Filter, Hit, Point, Sparse
from shared.vectors.ranking import Found, top

_PREFIX = "citebound."
_BATCH = 256  # points per upsert: some 2 MB of JSON at 384 dimensions
_PAGE = 5_000
_PIECE = 1_000_000  # characters of the frequencies in one point
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_NO_VECTORS = {"none": models.SparseVectorParams()}  # a collection needs some kind
_GREEN_WITHIN_S = 1_800.0
_ASK_AGAIN_S = 0.25


class ServerVectors:
    """`Vectors` on a server. Safe to use from several threads."""

    def __init__(self, client: QdrantClient, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._sleep = sleep

    @property
    def index(self) -> str:
        return f"qdrant-client {version('qdrant-client')} exact float32 cosine fixed-point idf"

    def build(self, name: str, *, dimensions: int, base: Base | None = None) -> "ServerBuilder":
        """Throws away what an earlier build of that name left; a builder still at work on it gets UpstreamError at its next step.

        Raises: Conflict, UpstreamError.
        """
        alias = _alias(name)
        with _server():
            if alias in self._aliases():
                raise Conflict(f"collection {name} is sealed", ids=[name])
            self._sweep(name)
            collection = f"{alias}.{secrets.token_hex(4)}"
            self._client.create_collection(
                collection,
                vectors_config={"dense": models.VectorParams(size=dimensions, distance=models.Distance.COSINE)},
                sparse_vectors_config={"sparse": models.SparseVectorParams()},
                hnsw_config=models.HnswConfigDiff(m=0),
                shard_number=1,
            )
            for field in ("doc_id", "access"):
                self._client.create_payload_index(collection, field, models.PayloadSchemaType.KEYWORD, wait=True)
        return ServerBuilder(self._client, name, collection, sleep=self._sleep)

    def open(self, name: str, *, files: dict[str, str]) -> "ServerCollection":
        """`files` is empty: the server keeps its own. Raises: CollectionUnavailable, UpstreamError."""
        with _server():
            collection = self._aliases().get(_alias(name))
        if collection is None:
            raise CollectionUnavailable(f"collection {name} is not on the vector server", ids=[name])
        return ServerCollection(self._client, collection, _frequencies(self._client, collection))

    def names(self) -> list[str]:
        """Every sealed collection on the server, also those of another Citebound that shares it."""
        with _server():
            return sorted(alias.removeprefix(_PREFIX) for alias in self._aliases())

    def unfinished(self) -> list[str]:
        """As `names`: also those of another Citebound."""
        with _server():
            begun = {found.name for found in self._client.get_collections().collections}
            sealed = self._aliases()
        started = {name.removeprefix(_PREFIX).partition(".")[0] for name in begun if name.startswith(_PREFIX)}
        return sorted(started - {alias.removeprefix(_PREFIX) for alias in sealed})

    def drop(self, name: str) -> None:
        alias = _alias(name)
        with _server():
            if alias in self._aliases():
                gone = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
                self._client.update_collection_aliases([gone])  # gone at once for every reader
            self._sweep(name)

    def _sweep(self, name: str) -> None:
        for found in self._client.get_collections().collections:
            if found.name.startswith(f"{_alias(name)}."):
                self._client.delete_collection(found.name)

    def _aliases(self) -> dict[str, str]:
        aliases = self._client.get_aliases().aliases
        return {found.alias_name: found.collection_name for found in aliases if found.alias_name.startswith(_PREFIX)}


class ServerBuilder:
    based_on = None

    def __init__(self, client: QdrantClient, name: str, collection: str, *, sleep: Callable[[float], None]) -> None:
        self._client = client
        self._name = name
        self._collection = collection
        self._sleep = sleep
        self._added: dict[BlockId, None] = {}
        self._tally = Tally()

    def add(self, points: Sequence[Point]) -> None:
        new: dict[BlockId, Point] = {}
        for point in points:
            if point.block_id not in self._added:
                new.setdefault(point.block_id, point)
        fresh = list(new.values())
        for at in range(0, len(fresh), _BATCH):
            batch = fresh[at : at + _BATCH]
            with _server():
                self._client.upsert(self._collection, [_encode(point) for point in batch], wait=True)
            for point in batch:
                self._added[point.block_id] = None
                self._tally.add(point.sparse)

    def remove(self, block_ids: Sequence[BlockId]) -> None:
        leaving: list[models.ExtendedPointId] = [str(pack(block_id)) for block_id in block_ids]
        for at in range(0, len(leaving), _BATCH):
            batch = leaving[at : at + _BATCH]
            with _server():
                records = self._client.retrieve(self._collection, batch, with_payload=False, with_vectors=["sparse"])
                self._client.delete(self._collection, models.PointIdsList(points=batch), wait=True)
            for record in records:
                vectors = cast(dict[str, models.SparseVector], record.vector)
                self._tally.remove(vectors["sparse"].indices if "sparse" in vectors else ())
                del self._added[_unpacked(record.id)]

    def block_ids(self) -> Iterable[BlockId]:
        return tuple(self._added)

    def seal(self) -> dict[str, str]:
        """Raises: Conflict when another builder sealed that name first, UpstreamError."""
        with _server():
            self._write_frequencies()
            self._wait_until_green()
            alias = _alias(self._name)
            if any(found.alias_name == alias for found in self._client.get_aliases().aliases):
                raise Conflict(f"collection {self._name} was sealed by another writer", ids=[self._name])
            made = models.CreateAlias(collection_name=self._collection, alias_name=alias)
            self._client.update_collection_aliases([models.CreateAliasOperation(create_alias=made)])
        return {}

    def seal_open(self) -> tuple[dict[str, str], "ServerCollection"]:
        """Raises: as `seal`."""
        return self.seal(), ServerCollection(self._client, self._collection, self._tally.frequencies())

    def abandon(self) -> None:
        with _server():
            self._client.delete_collection(self._collection)

    def _write_frequencies(self) -> None:
        place = _frequencies_of(self._collection)
        text = base64.b64encode(self._tally.frequencies().encode()).decode()
        self._client.create_collection(place, vectors_config={}, sparse_vectors_config=_NO_VECTORS)
        for number, at in enumerate(range(0, len(text), _PIECE)):
            piece = models.PointStruct(id=number, vector={}, payload={"piece": text[at : at + _PIECE]})
            self._client.upsert(place, [piece], wait=True)

    def _wait_until_green(self) -> None:
        for _ in range(int(_GREEN_WITHIN_S / _ASK_AGAIN_S)):
            if self._client.get_collection(self._collection).status == models.CollectionStatus.GREEN:
                return
            self._sleep(_ASK_AGAIN_S)
        raise UpstreamError(
            "upstream_unavailable", f"the vector server did not finish optimising {self._name}", ids=[self._name]
        )


class ServerCollection:
    is_remote = True

    def __init__(self, client: QdrantClient, collection: str, frequencies: Frequencies) -> None:
        self._client = client
        self._collection = collection
        self._frequencies = frequencies

    def dense(self, query: Dense, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]:
        return self._search(query.tolist(), "dense", within, limit, briefly=briefly)

    def sparse(self, query: Sparse, *, within: Filter, limit: int, briefly: bool = False) -> list[Hit]:
        weighed = self._frequencies.weighed(query)
        vector = models.SparseVector(indices=list(weighed.indices), values=list(weighed.values))
        return self._search(vector, "sparse", within, limit, briefly=briefly) if weighed.indices else []

    def asked(self, query: Sparse) -> float:
        return self._frequencies.asked(query)

    def count(self) -> int:
        with _server(self._collection):
            return self._client.count(self._collection, exact=True).count

    def block_ids(self) -> Iterable[BlockId]:
        offset: models.ExtendedPointId | None = None
        while True:
            with _server(self._collection):
                records, after = self._client.scroll(
                    self._collection, limit=_PAGE, offset=offset, with_payload=False, with_vectors=False
                )
            yield from (_unpacked(record.id) for record in records)
            if after is None:
                return
            offset = cast(models.ExtendedPointId, after)  # HTTP only: never gRPC's own id

    def dense_of(self, block_ids: Sequence[BlockId]) -> dict[BlockId, Dense]:
        found: dict[BlockId, Dense] = {}
        for at in range(0, len(block_ids), _BATCH):
            ids: list[models.ExtendedPointId] = [str(pack(block_id)) for block_id in block_ids[at : at + _BATCH]]
            with _server(self._collection):
                records = self._client.retrieve(self._collection, ids, with_payload=False, with_vectors=["dense"])
            for record in records:
                vectors = cast(dict[str, list[float]], record.vector)
                found[_unpacked(record.id)] = np.asarray(vectors["dense"], dtype=np.float32)
        return found

    def close(self) -> None:
        """The client is the adapter's, not this collection's."""

    def _search(
        self, query: list[float] | models.SparseVector, using: str, within: Filter, limit: int, *, briefly: bool
    ) -> list[Hit]:
        if within.doc_ids == ():
            return []
        conditions = _conditions(within)

        def fetch(count: int) -> list[Found]:
            with _server(self._collection):
                answer = self._client.query_points(
                    self._collection,
                    query=query,
                    using=using,
                    limit=count,
                    query_filter=conditions,
                    with_payload=False,
                    search_params=models.SearchParams(exact=True),
                )
            return [(point.score, uuid.UUID(str(point.id))) for point in answer.points]

        return top(fetch, limit, briefly=briefly)


def _alias(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"not a collection name: {name!r}")
    return f"{_PREFIX}{name}"


def _frequencies_of(collection: str) -> str:
    return f"{collection}.f"


def _frequencies(client: QdrantClient, collection: str) -> Frequencies:
    pieces: dict[int, str] = {}
    with _server(collection):
        for number in range(client.count(_frequencies_of(collection), exact=True).count):
            (record,) = client.retrieve(_frequencies_of(collection), [number])
            pieces[number] = (record.payload or {})["piece"]
    return decode(base64.b64decode("".join(pieces[number] for number in sorted(pieces))))


def _unpacked(packed: object) -> BlockId:
    return unpack(uuid.UUID(str(packed)))[0]


def _encode(point: Point) -> models.PointStruct:
    weights = stored(point.sparse)
    sparse = models.SparseVector(indices=list(weights.indices), values=list(weights.values))
    payload = {"doc_id": point.doc_id, "access": list(point.access)}  # what filters look at
    return models.PointStruct(
        id=str(pack(point.block_id)), vector={"dense": point.dense.tolist(), "sparse": sparse}, payload=payload
    )


def _conditions(within: Filter) -> models.Filter | None:
    must: list[models.Condition] = []
    if within.doc_ids is not None:
        must.append(models.FieldCondition(key="doc_id", match=models.MatchAny(any=list(within.doc_ids))))
    if within.access is not None:
        labels = sorted({*within.access, EVERYONE})
        must.append(models.FieldCondition(key="access", match=models.MatchAny(any=labels)))
    closed: list[models.Condition] = []
    if within.without:
        closed.append(models.FieldCondition(key="doc_id", match=models.MatchAny(any=list(within.without))))
    return models.Filter(must=must, must_not=closed) if must or closed else None


@contextmanager
def _server(collection: str | None = None) -> Generator[None]:
    """Translate the client's failures into ours, once, where they enter the program; a sealed collection that is gone is its own error."""
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code == 404 and collection is not None:
            raise CollectionUnavailable(f"{collection} is no longer on the vector server", ids=[collection]) from error
        raise UpstreamError(
            "upstream_unavailable", f"vector server answered {error.status_code}: {error.reason_phrase}"
        ) from error
    except (ApiException, QdrantException) as error:
        raise UpstreamError("upstream_unavailable", f"vector server: {error}") from error
