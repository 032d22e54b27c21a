"""The figures of this process since it began, in Prometheus' text format.

Counted from ended spans and finished runs; a registry of its own, so nothing of the process or of a library is in it.
Labels are words of ours (a status, a kind, a tool), never of documents or questions.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from opentelemetry.sdk.trace import ReadableSpan
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from shared.telemetry.export import Exported
from shared.telemetry.measures import (
    BUCKETS_S,
    Count,
    Took,
    bucket_of,
    counts_of_run,
    counts_of_span,
    time_of_run,
    time_of_span,
)
from shared.telemetry.processor import Reader
from shared.types.imports import ImportState
from shared.types.runs import RunRecord
from shared.version import APP_VERSION

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_COUNTERS: Final = {  # name in measures.py -> (metric, help, labels)
    "runs": ("citebound_runs", "Runs that are over.", ("status", "reason")),
    "retrievals": ("citebound_retrievals", "Tool calls of runs.", ()),
    "brakes": ("citebound_brakes", "Brakes that closed the tools of a run.", ("kind",)),
    "protocol_errors": ("citebound_protocol_errors", "Replies that are not in the protocol.", ("problem",)),
    "citations": ("citebound_citations", "Citations by what checking them said.", ("verdict",)),
    "tokens": ("citebound_tokens", "Tokens of runs; kinds are never added to one another.", ("kind",)),
}


class Moment(Struct, frozen=True, kw_only=True):
    """What is true at the moment of asking, from elsewhere."""

    running: int = 0
    snapshot_state: str | None = None  # None: nothing is published
    snapshot_age_s: float | None = None  # since it was published
    imports: Mapping[ImportState, int] = {}
    waiting_imports: int = 0
    dropped: Mapping[str, int] = {}
    exported: Mapping[str, Exported] = {}


class Metrics(Reader):
    """Any number of threads count, any asks."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._buckets: Counter[tuple[str, int]] = Counter()
        self._seconds: dict[str, float] = {}

    def read(self, span: ReadableSpan) -> None:
        self._add(counts_of_span(span), time_of_span(span))

    def keep(self, record: RunRecord) -> None:
        self._add(counts_of_run(record), time_of_run(record))

    def text(self, moment: Moment) -> bytes:
        self.settle()
        registry = CollectorRegistry(auto_describe=False)
        with self._lock:
            counts, buckets, seconds = dict(self._counts), dict(self._buckets), dict(self._seconds)
        registry.register(_Families([*_counters(counts), _durations(buckets, seconds), *_now(moment)]))
        return generate_latest(registry)

    def _add(self, counts: Iterable[Count], took: Took | None) -> None:
        with self._lock:
            for count in counts:
                self._counts[count.name, count.label] += count.amount
            if took is not None:
                self._buckets[took.step, bucket_of(took.seconds)] += 1
                self._seconds[took.step] = self._seconds.get(took.step, 0.0) + took.seconds


class _Families(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _counters(counts: Mapping[tuple[str, str], int]) -> Iterator[Metric]:
    for name, (metric, help, labels) in _COUNTERS.items():
        family = CounterMetricFamily(metric, help, labels=labels)
        found = {label: amount for (one, label), amount in sorted(counts.items()) if one == name}
        for label, amount in (found or ({} if labels else {"": 0})).items():
            family.add_metric(label.split("/", len(labels) - 1) if labels else [], amount)
        yield family


def _durations(buckets: Mapping[tuple[str, int], int], seconds: Mapping[str, float]) -> Metric:
    family = HistogramMetricFamily("citebound_step_seconds", "How long steps took.", labels=("step",))
    for step, spent in sorted(seconds.items()):
        below, told = 0, list[tuple[str, float]]()
        for place, end in enumerate((*BUCKETS_S, None)):
            below += buckets.get((step, place), 0)
            told.append(("+Inf" if end is None else str(end), below))
        family.add_metric([step], told, sum_value=spent)
    return family


def _now(moment: Moment) -> Iterator[Metric]:
    build = GaugeMetricFamily("citebound_build_info", "The version that runs.", labels=("version",))
    build.add_metric([APP_VERSION], 1)
    yield build
    yield GaugeMetricFamily("citebound_runs_under_way", "Runs that are not over.", value=moment.running)
    state = GaugeMetricFamily("citebound_snapshot_info", "The state of the active snapshot.", labels=("state",))
    state.add_metric([moment.snapshot_state or "none"], 1)
    yield state
    if moment.snapshot_age_s is not None:
        yield GaugeMetricFamily(
            "citebound_snapshot_age_seconds", "Since the active snapshot was published.", value=moment.snapshot_age_s
        )
    yield _labelled(
        GaugeMetricFamily("citebound_imports", "Imports by state.", labels=("state",)),
        {str(state): number for state, number in moment.imports.items()},
    )
    yield GaugeMetricFamily(
        "citebound_import_queue_depth", "Imports that are queued or under way.", value=moment.waiting_imports
    )
    yield _labelled(
        CounterMetricFamily("citebound_traces_dropped", "Traces this process could not keep.", labels=("kind",)),
        {kind: moment.dropped.get(f"{kind}_dropped", 0) for kind in ("artifacts", "runs", "spans")},
    )
    exports = CounterMetricFamily(
        "citebound_spans_exported", "Spans sent on, by outcome.", labels=("receiver", "outcome")
    )
    waiting = GaugeMetricFamily("citebound_spans_export_queue", "Spans waiting to be sent on.", labels=("receiver",))
    for receiver, exported in sorted(moment.exported.items()):
        for outcome in ("sent", "refused", "dropped"):
            exports.add_metric([receiver, outcome], getattr(exported, outcome))
        waiting.add_metric([receiver], exported.waiting)
    yield exports
    yield waiting


def _labelled(
    family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[str, int]
) -> GaugeMetricFamily | CounterMetricFamily:
    for label, value in sorted(values.items()):
        family.add_metric([label], value)
    return family
