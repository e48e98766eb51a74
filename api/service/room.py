"""Disk space: its use by part and by job, its growth, the date when it is full, possible savings.

Bounded: sizes come from the databases' own statistics, growth from measurements an hour apart, and
the shares of jobs from a sample of 1,000 documents (a few seeks each), kept for a minute.
"""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from graph_model.errors import Unavailable
from graph_model.producers.registry import PRODUCERS
from graph_model.projection.runs.estimate import estimate_elements
from graph_model.projection.runs.window import EMBEDDED, NONE, RunWindow
from graph_model.retention.forecast import (
    DAY_MS,
    Forecast,
    Measure,
    growth,
    measured_since,
    read_measures,
    with_measure,
    write_measures,
)
from graph_model.retention.keeping import Keep

if TYPE_CHECKING:
    from graph_model.stores.catalogue import SqlGenerations
    from graph_model.stores.catalogue.plan_origins import PlanOrigin
    from graph_model.stores.gremlin.engine.supervisor import Memory
    from graph_model.stores.journal import SqlJournal
    from graph_model.stores.journal.statistics import Sampled

MEASURES_KEY: Final = "storage_measures"
SAMPLE: Final = 1_000
LARGEST: Final = 10
KEPT_DAYS: Final = (30, 90, 400)
KEPT_RUNS: Final = 100
_BELIEVED_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one job (or kind, producer, namespace) in the journal: of a sample, as a part of
    its bytes and scaled to all. A job is named as in references: ``<namespace>/<name>``, the
    namespace percent-encoded.
    """

    name: str
    share: float
    bytes: int


@dataclass(frozen=True, slots=True)
class RunsInGraph:
    """About how many vertices and edges the runs of ``window`` take; ``saved``: setting -> how many
    fewer it would be. ``element_bytes`` of the engine's heap; None: no embedded engine.
    """

    window: RunWindow
    elements: int
    saved: Mapping[str, int]
    element_bytes: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """``by`` kind, producer, namespace and job: the largest first. ``saved``: setting -> bytes that
    it would give back at most, without the executions behind today's lineage. ``keep``: the
    retention in force.
    """

    forecast: Forecast
    runs: RunsInGraph
    sampled: int
    keep: Keep | None
    by: Mapping[str, tuple[Share, ...]] = field(default_factory=dict)
    saved: Mapping[str, int] = field(default_factory=dict)


class Room:
    """For any thread. ``folder`` holds the databases; None: they are elsewhere. ``memory`` measures
    the embedded engine, ``clock`` gives epoch milliseconds; ``runs`` are those
    that the graph carries, ``keep`` is the retention in force.
    """

    def __init__(
        self,
        journal: SqlJournal,
        generations: SqlGenerations,
        clock: Callable[[], int],
        *,
        folder: Path | None = None,
        memory: Callable[[], Memory | None] = lambda: None,
        runs: RunWindow = EMBEDDED,
        keep: Keep | None = None,
    ) -> None:
        self._keep = keep
        self._runs = runs
        self._journal = journal
        self._generations = generations
        self._clock = clock
        self._folder = folder
        self._memory = memory
        self._lock = threading.Lock()
        self._report: Report | None = None

    def forecast(self) -> Forecast:
        """Now, against the measures that were kept. Reads no rows of documents.

        Raises Unavailable where the disk of ``folder`` cannot be measured.
        """
        memory = self._memory()
        now = self._measure(memory)
        kept = read_measures(self._journal.get_meta(MEASURES_KEY))
        free = None if self._folder is None else _free_bytes(self._folder)
        capacity = None if memory is None else memory.capacity
        since = measured_since(kept, now)
        return Forecast(now, growth(kept, now), free, capacity, since)

    def keep_measure(self) -> None:
        """Keep the present use, once an hour, for the rate: by one service of several."""
        now = self._measure(self._memory())
        if with_measure(read_measures(self._journal.get_meta(MEASURES_KEY)), now) is None:
            return
        with self._journal.projecting():
            kept = with_measure(read_measures(self._journal.get_meta(MEASURES_KEY)), now)
            if kept is not None:
                self._journal.set_meta(MEASURES_KEY, write_measures(kept))

    def _measure(self, memory: Memory | None) -> Measure:
        return Measure(
            self._clock(),
            self._journal.newest(),
            self._journal.used_bytes(),
            self._generations.current.used_bytes(),
            None if memory is None else memory.elements,
        )

    def tidy(self) -> bool:
        """One bounded step of giving free pages back; False when none is left."""
        return self._journal.tidy() or self._generations.current.tidy()

    def report(self) -> Report:
        """The report with shares and possible savings; kept for a minute."""
        with self._lock:
            known = self._report
            if known is None or self._clock() - known.forecast.measured.at >= _BELIEVED_MS:
                known = self._report = self._look()
            return known

    def _look(self) -> Report:
        forecast = self.forecast()
        sample = self._journal.sample(SAMPLE)
        origins = self._generations.current.plan_origins({one.plan_id for one in sample})
        used = forecast.measured.journal_bytes
        by = {
            "kind": _shares(((one.kind, one.stored_bytes) for one in sample), used),
            **{
                name: _shares(
                    ((_origin_field(origins, one, name), one.stored_bytes) for one in sample), used
                )
                for name in ("producer", "namespace", "job")
            },
        }
        runs = Counter(
            _origin_field(origins, one, "job")
            for one in sample
            if one.kind not in PRODUCERS.bases and one.plan_id in origins
        )
        saved = self._saved(forecast, runs, len(sample))
        return Report(forecast, self._runs_in_graph(), len(sample), self._keep, by, saved)

    def _runs_in_graph(self) -> RunsInGraph:
        others = [one for one in (EMBEDDED, NONE) if one != self._runs]
        found = estimate_elements(self._generations.current, [self._runs, *others])
        now = found[self._runs]
        saved = {f"HEADWATER_GRAPH_RUNS={one}": max(0, now - found[one]) for one in others}
        memory = self._memory()
        return RunsInGraph(self._runs, now, saved, memory.element_bytes if memory else None)

    def _saved(
        self, forecast: Forecast, runs_sampled: Mapping[str, int], sampled: int
    ) -> dict[str, int]:
        now = forecast.measured
        times = [now.at - days * DAY_MS for days in KEPT_DAYS]
        shares = zip(KEPT_DAYS, self._journal.share_received_before(times), strict=True)
        found = {f"days={days}": int(share * now.disk_bytes) for days, share in shares}
        each = now.documents / sampled if sampled else 0.0
        beyond = sum(max(0.0, count * each - KEPT_RUNS) for count in runs_sampled.values())
        share = beyond / now.documents if now.documents else 0.0
        found[f"runs={KEPT_RUNS}"] = int(share * now.disk_bytes)
        return {f"HEADWATER_KEEP={setting}": size for setting, size in found.items()}


def _free_bytes(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError as error:
        raise Unavailable(
            "the disk of the data folder cannot be measured", f"{folder}: {error}"
        ) from error


def _origin_field(origins: Mapping[str, PlanOrigin], one: Sampled, what: str) -> str:
    """The producer, the namespace or the job of a document; "" where no run names one."""
    origin = origins.get(one.plan_id)
    if origin is None:
        return ""
    named = {"job": f"{quote(origin.namespace, safe='')}/{origin.job}"}
    return named.get(what) or str(getattr(origin, what))


def _shares(sizes: Iterable[tuple[str, int]], used: int) -> tuple[Share, ...]:
    """The largest first; ``used`` bytes are shared out."""
    counted: Counter[str] = Counter()
    for name, size in sizes:
        counted[name] += size + 1  # an empty one counts, too
    total = counted.total()
    return tuple(
        Share(name, size / total, int(used * size / total))
        for name, size in counted.most_common(LARGEST)
    )
