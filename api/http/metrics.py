"""Metrics for Prometheus. Each application has a registry of its own.

Counters and histograms cover this process since its start; the journal is counted at each scrape.
docs/http.md lists names and labels. Labels are bounded: kinds, states, status codes, route
templates; never a name from a document.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from graph_model.errors import HeadwaterError
from graph_model.retention.forecast import Forecast
from graph_model.stores.forwarding import ForwardState
from graph_model.stores.journal.journal import Backlog, JournalStatistics

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
STATES: Final = ("ready", "rebuilding", "unavailable")
_REQUEST_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_ROUND_SECONDS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Arrivals since the start: documents by kind, and requests with documents refused."""

    received: Mapping[str, int]
    refused: int


class Metrics:
    """The metrics of one application. Safe from several threads."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry(auto_describe=True)
        self._received = Counter(
            "headwater_documents_received",
            "Documents taken, repeats included, since the start",
            ["kind"],
            registry=registry,
        )
        self._refused = Counter(
            "headwater_requests_refused",
            "Requests with documents that were answered with an error, since the start",
            ["kind", "status"],
            registry=registry,
        )
        self._reasons = Counter(
            "headwater_refusals",
            "Requests with documents, and events of a batch, that were refused, since the start",
            ["kind", "reason"],
            registry=registry,
        )
        self._requests = Histogram(
            "headwater_request_duration_seconds",
            "Time from a request to its answer",
            ["method", "route", "status"],
            buckets=_REQUEST_SECONDS,
            registry=registry,
        )
        self._rounds = Histogram(
            "headwater_projection_duration_seconds",
            "Time of one round of the projector, up to a batch of plans",
            buckets=_ROUND_SECONDS,
            registry=registry,
        )
        self._projected_plans = Counter(
            "headwater_projection_plans",
            "Plan ids that the projector took up, since the start",
            registry=registry,
        )
        self._build = Gauge(
            "headwater_build_info", "Always 1", ["version", "python"], registry=registry
        )

    def describe_build(self, version: str) -> None:
        """Set the version of Headwater and of Python."""
        self._build.labels(version, platform.python_version()).set(1)

    def received(self, kind: str, number: int) -> None:
        """Count documents of a kind that were made durable."""
        self._received.labels(kind).inc(number)

    def refused(self, kind: str, status: int) -> None:
        """Count a request with documents of a kind that was answered with an error."""
        self._refused.labels(kind, str(status)).inc()

    def refused_for(self, kind: str, reason: str) -> None:
        """Count the reason of a refused request, or of a refused event of a batch."""
        self._reasons.labels(kind, reason).inc()

    def arrivals(self) -> Arrivals:
        """The arrivals so far."""
        received = {sample.labels["kind"]: int(sample.value) for sample in _totals(self._received)}
        return Arrivals(received, int(sum(sample.value for sample in _totals(self._refused))))

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered; ``route`` is a template."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, str(status)).observe(seconds)

    def projected(self, plans: int, seconds: float) -> None:
        """The projector ended a round."""
        self._rounds.observe(seconds)
        self._projected_plans.inc(plans)

    def watch_journal(
        self,
        statistics: Callable[[], JournalStatistics],
        state: Callable[[], str],
        clock: Callable[[], int],
    ) -> None:
        """Call these at every scrape; ``clock`` gives epoch milliseconds."""
        self._registry.register(_AtScrape(lambda: _of_journal(statistics, state(), clock())))

    def watch_storage(self, forecast: Callable[[], Forecast]) -> None:
        """Call this at every scrape, too."""
        self._registry.register(_AtScrape(lambda: _of_storage(forecast)))

    def watch_forwarding(
        self, states: Callable[[], Sequence[ForwardState]], newest: Callable[[], int]
    ) -> None:
        """Call these at every scrape, too; ``newest`` gives the journal's newest position."""
        self._registry.register(_AtScrape(lambda: _of_forwarding(states, newest)))

    def text(self) -> bytes:
        """Everything, in the text format of Prometheus."""
        return generate_latest(self._registry)


def _totals(counter: Counter) -> Iterator[Sample]:
    samples = (sample for metric in counter.collect() for sample in metric.samples)
    return (sample for sample in samples if sample.name.endswith("_total"))


class _AtScrape(Collector):
    """Metrics that ``read`` makes at each scrape."""

    def __init__(self, read: Callable[[], Iterator[Metric]]) -> None:
        self._read = read

    def describe(self) -> list[Metric]:
        """No metrics, so that a registration reads no store."""
        return []

    def collect(self) -> Iterator[Metric]:
        return self._read()


def _of_journal(
    statistics: Callable[[], JournalStatistics], state: str, now: int
) -> Iterator[Metric]:
    """Counts of journal and projector; of a journal that fails only that it is down."""
    states = GaugeMetricFamily(
        "headwater_projection_state", "1 for the state that holds now", labels=["state"]
    )
    for known in STATES:
        states.add_metric([known], float(known == state))
    yield states
    try:
        numbers = statistics()
    except HeadwaterError:
        yield GaugeMetricFamily("headwater_journal_up", "Whether the journal answers", 0)
        return
    yield GaugeMetricFamily("headwater_journal_up", "Whether the journal answers", 1)
    yield from _documents(numbers)
    yield GaugeMetricFamily(
        "headwater_projection_lag_documents",
        "Documents accepted that the graph does not show yet",
        numbers.backlog.documents,
    )
    yield GaugeMetricFamily(
        "headwater_projection_lag_seconds",
        "Time of the oldest of them; 0 when there is none",
        lag_seconds(numbers.backlog, now),
    )
    yield GaugeMetricFamily(
        "headwater_database_bytes",
        "Size of the database that holds journal and catalogue",
        numbers.database_bytes,
    )


def _of_storage(forecast: Callable[[], Forecast]) -> Iterator[Metric]:
    """Unknown values (no embedded engine, a first hour) are left out."""
    try:
        predicted = forecast()
    except HeadwaterError:
        return
    now, grows = predicted.measured, predicted.growth
    parts = {
        "journal": now.journal_bytes,
        "catalogue": now.catalogue_bytes,
    }
    yield _labelled("headwater_storage_bytes", "Bytes in use on the disk", "part", parts)
    days = {"disk": predicted.disk_days, "heap": predicted.heap_days}
    documentation = "Days until it is full at the rate of the last week; 0 for a full one"
    yield _labelled("headwater_storage_full_days", documentation, "room", days)
    for name, text, value in (
        ("storage_free_bytes", "Bytes free on the disk of the data folder", predicted.free_bytes),
        ("storage_reserve_bytes", "Free bytes that new documents leave to removals",
         predicted.reserve_bytes or None),
        ("storage_measured_seconds", "Time over which growth was measured, at most a week",
         predicted.measured_seconds),
        ("storage_growth_bytes", "Bytes that come a day on the disk", grows.disk_bytes),
        ("engine_elements", "Vertices and edges in the embedded engine", now.elements),
        ("engine_capacity_elements", "Vertices and edges that its heap holds", predicted.capacity),
        ("engine_growth_elements", "Vertices and edges that come a day", grows.elements),
    ):  # fmt: skip
        if value is not None:
            yield GaugeMetricFamily(f"headwater_{name}", text, value)


def _of_forwarding(
    states: Callable[[], Sequence[ForwardState]], newest: Callable[[], int]
) -> Iterator[Metric]:
    """A sample a destination; nothing where there is none."""
    try:
        listed = states()
        last = newest() if listed else 0
    except HeadwaterError:
        return
    for name, text, value in (
        ("sent_documents", "Documents sent since it was added", lambda state: state.sent),
        ("lag_documents", "Positions of the journal behind the newest",
         lambda state: max(last - state.position, 0)),
        ("refused_documents", "Documents that it refused", lambda state: state.letters),
        ("failing", "1 while it waits after a failure", lambda state: int(bool(state.failure))),
        ("paused", "1 while it is paused", lambda state: int(state.paused)),
    ):  # fmt: skip
        if listed:
            values = {state.name: value(state) for state in listed}
            yield _labelled(f"headwater_forward_{name}", text, "destination", values)


def _labelled(
    name: str, documentation: str, label: str, values: Mapping[str, float | int | None]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, documentation, labels=[label])
    for key, value in values.items():
        if value is not None:
            family.add_metric([key], value)
    return family


def lag_seconds(backlog: Backlog, now: int) -> float:
    """Since how many seconds the oldest pending document is there; 0.0 when there is none."""
    return 0.0 if backlog.oldest_at is None else max(0.0, (now - backlog.oldest_at) / 1000)


def _documents(statistics: JournalStatistics) -> Iterator[Metric]:
    family = GaugeMetricFamily(
        "headwater_journal_documents",
        "Distinct documents in the journal, by kind and state",
        labels=["kind", "state"],
    )
    for (kind, state), number in sorted(statistics.documents.items()):
        family.add_metric([kind, state.value], number)
    yield family
