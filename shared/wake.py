"""Knock on the worker's door: a message that carries an import's id and nothing else.

The catalog is the truth. A message that is lost, doubled or late changes nothing but the time of the start.
"""

from typing import cast

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import Retries
from redis import Redis
from redis.exceptions import RedisError

from shared.errors import SettingsError, UpstreamError
from shared.ids import ImportId

ACTOR = "advance_import"
QUEUE = "imports"

_NAMESPACE = "citebound"
_ANSWER_S = 10.0  # a broker that accepts and then says nothing; it is polled, so no call waits on purpose
_HEARTBEAT_MS = 60_000
_ALWAYS = 1_000_000  # in a million commands; the default leaves a killed worker's messages for minutes (measured)


def open_broker(url: str) -> dramatiq.Broker:
    """`url`: redis://host:port/db, rediss://… or unix:///path/to/socket. Connects at first use.

    Only the Retries middleware: no time limit, an import may run for hours; its lease says whether it lives.
    Raises: SettingsError.
    """
    retries = Retries(max_retries=2, min_backoff=1_000, max_backoff=60_000)
    try:
        client = Redis.from_url(  # pyright: ignore[reportUnknownMemberType]: its keywords have no types
            url, socket_connect_timeout=_ANSWER_S, socket_timeout=_ANSWER_S
        )
        broker = RedisBroker(
            client=client,
            middleware=[retries],
            maintenance_chance=_ALWAYS,
            heartbeat_timeout=_HEARTBEAT_MS,
            namespace=_NAMESPACE,
        )
    except ValueError as error:
        raise SettingsError(f"The broker's address isn't one: {error}.", field="broker.url") from error
    broker.declare_queue(QUEUE)
    return broker


def wake_import(broker: dramatiq.Broker, import_id: ImportId) -> None:
    """Ask some worker to look at this import now.

    Raises: UpstreamError when the broker can't be reached; the import is safe in the catalog and the worker's reconciler finds it.
    """
    message = dramatiq.Message[None](queue_name=QUEUE, actor_name=ACTOR, args=(import_id,), kwargs={}, options={})
    try:
        broker.enqueue(message)  # pyright: ignore[reportUnknownMemberType]: dramatiq leaves Message's parameter open
    except RedisError as error:
        raise UpstreamError(
            "upstream_unavailable", f"The broker can't be reached ({type(error).__name__}).", ids=[import_id]
        ) from error


def check_broker(broker: dramatiq.Broker) -> None:
    """Blocking, as long as a stopped broker keeps silent. Raises: UpstreamError when it can't be reached."""
    try:
        if isinstance(broker, RedisBroker):
            broker.client.ping()  # pyright: ignore[reportUnknownMemberType]
    except RedisError as error:
        raise UpstreamError("upstream_unavailable", f"The broker can't be reached ({type(error).__name__}).") from error


def worker_seen_ms(broker: dramatiq.Broker) -> int | None:
    """When a process other than this one last asked the broker for work; None = none within the last minutes.

    Dramatiq notes whoever sends it a command; a worker does five times a second. Blocking. Raises: UpstreamError.
    """
    if not isinstance(broker, RedisBroker):
        return None
    try:
        found = cast(
            "list[tuple[bytes, float]]",
            broker.client.zrange(f"{_NAMESPACE}:__heartbeats__", 0, -1, withscores=True),  # pyright: ignore[reportUnknownMemberType]
        )
    except RedisError as error:
        raise UpstreamError("upstream_unavailable", f"The broker can't be reached ({type(error).__name__}).") from error
    return max((round(at_ms) for name, at_ms in found if name.decode() != broker.broker_id), default=None)
