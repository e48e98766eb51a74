"""Disk space: its use by part and by job, its growth, the date when the disk is full, and savings.

The cost is bounded. Sizes come from the databases' own statistics, growth from measurements an hour
apart, the shares of jobs from a sample of 1,000 documents: a few seeks for each document, and a
count of up to 10,000 runs for each job in the sample. The sample is kept for a minute.
"""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from graph_model import identity
from graph_model.errors import Unavailable
from graph_model.producers.registry import PRODUCERS
from graph_model.projection.kept_runs import estimate_elements
from graph_model.projection.run_window import DEFAULT, NONE, RunWindow
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
from graph_model.retention.policy import RetentionPolicy

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Generations
    from graph_model.stores.catalogue.support import PlanOrigin
    from graph_model.stores.database import DiskReserve
    from graph_model.stores.gremlin.engine.supervisor import Memory
    from graph_model.stores.journal import Journal
    from graph_model.stores.journal.journal import Sampled

MEASURES_KEY: Final = "storage_measures"
SAMPLE: Final = 1_000
LARGEST: Final = 10
KEPT_DAYS: Final = (30, 90, 400)
KEPT_RUNS: Final = 100
RUNS_COUNTED: Final = 10_000
SAVED_NOTE: Final = (
    "at most: today's lineage keeps the runs that it stands on, all runs of an append-only table"
    " among them; runs= counts the runs of a sample of jobs, days= goes by the arrival of"
    " documents; headwater prune counts exactly, and removes nothing without --yes"
)
_BELIEVED_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one job (or kind, producer, namespace) in the journal: its part of the bytes of
    a sample, also scaled to the whole journal. A job is named as in references:
    ``<namespace>/<name>``, the namespace percent-encoded.
    """

    name: str
    share: float
    bytes: int


@dataclass(frozen=True, slots=True)
class RunsInGraph:
    """The approximate number of vertices and edges that the runs of ``window`` take. ``saved``: for
    each other setting, how many fewer there would be. ``element_bytes``: the engine's heap for one
    element; None: no embedded engine.
    """

    window: RunWindow
    elements: int
    saved: Mapping[str, int]
    element_bytes: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """``by``: the shares by kind, producer, namespace and job, the largest first. ``saved``: for
    each setting the bytes that it would give back at most (``SAVED_NOTE``). ``keep``: the retention
    in force. ``log_bytes``: the size of SQLite's write-ahead logs; None where the databases are
    elsewhere.
    """

    forecast: Forecast
    runs: RunsInGraph
    sampled: int
    keep: RetentionPolicy | None
    log_bytes: int | None = None
    by: Mapping[str, tuple[Share, ...]] = field(default_factory=dict)
    saved: Mapping[str, int] = field(default_factory=dict)


class StorageUse:
    """Measures the disk space of one service; for any thread.

    ``folder`` holds the databases; None: they are elsewhere.
    ``memory`` measures the embedded engine, ``holds`` returns whether documents wait for room in
    it, ``clock`` gives epoch milliseconds. ``runs`` are those that the graph carries, ``keep`` is
    the retention in force, ``reserve`` that of the disk.
    """

    def __init__(
        self,
        journal: Journal,
        generations: Generations,
        clock: Callable[[], int],
        *,
        folder: Path | None = None,
        memory: Callable[[], Memory | None] = lambda: None,
        holds: Callable[[], bool] = lambda: False,
        runs: RunWindow = DEFAULT,
        keep: RetentionPolicy | None = None,
        reserve: DiskReserve | None = None,
    ) -> None:
        self._reserve = reserve
        self._keep = keep
        self._runs = runs
        self._journal = journal
        self._generations = generations
        self._clock = clock
        self._folder = folder
        self._memory = memory
        self._holds = holds
        self._lock = threading.Lock()
        self._report: Report | None = None

    def forecast(self) -> Forecast:
        """The forecast from the present use and the kept measures. Reads no rows of documents.

        Raises Unavailable where the disk of ``folder`` cannot be measured.
        """
        memory = self._memory()
        now = self._measure(memory)
        kept = read_measures(self._journal.get_meta(MEASURES_KEY))
        free = None if self._folder is None else _free_bytes(self._folder)
        capacity = None if memory is None else memory.capacity
        since = measured_since(kept, now)
        return Forecast(
            now,
            growth(kept, now),
            free,
            capacity,
            since,
            self._holds(),
            self._reserve.size if self._reserve else 0,
            self.refusal,
        )

    @property
    def refusal(self) -> str | None:
        """Why new documents are refused; None while they are taken."""
        refusal = self._reserve.refusal if self._reserve else None
        return str(refusal) if refusal else None

    @property
    def is_short(self) -> bool:
        """Whether new documents are refused, because the disk has only its reserve left."""
        return self._reserve is not None and self._reserve.is_reached

    def keep_measure(self) -> None:
        """Keep the present use for the rate, once an hour; of several services only one does."""
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
        origins = self._generations.current.plan_origins(
            {document.subject_key for document in sample}
        )
        used = forecast.measured.journal_bytes
        by = {
            "kind": _shares(((document.kind, document.stored_bytes) for document in sample), used),
            **{
                name: _shares(
                    (
                        (_origin_field(origins, document, name), document.stored_bytes)
                        for document in sample
                    ),
                    used,
                )
                for name in ("producer", "namespace", "job")
            },
        }
        saved = self._saved(sample, origins, forecast.measured)
        log = None if self._folder is None else _log_bytes(self._folder)
        return Report(forecast, self._runs_in_graph(), len(sample), self._keep, log, by, saved)

    def _runs_in_graph(self) -> RunsInGraph:
        others = [window for window in (DEFAULT, NONE) if window != self._runs]
        elements = estimate_elements(self._generations.current, [self._runs, *others])
        now = elements[self._runs]
        saved = {
            f"HEADWATER_GRAPH_RUNS={window}": max(0, now - elements[window]) for window in others
        }
        memory = self._memory()
        return RunsInGraph(self._runs, now, saved, memory.element_bytes if memory else None)

    def _saved(
        self, sample: Collection[Sampled], origins: Mapping[str, PlanOrigin], now: Measure
    ) -> dict[str, int]:
        """Per setting the bytes of the sampled documents that it would remove, scaled up."""
        of_runs = [document for document in sample if _is_of_run(document, origins)]
        removed: dict[str, float] = {
            f"days={days}": sum(
                document.received_at < now.at - days * DAY_MS for document in of_runs
            )
            for days in KEPT_DAYS
        }
        jobs = Counter(_job_of(origins[document.subject_key]) for document in of_runs)
        removed[f"runs={KEPT_RUNS}"] = self._older_documents(jobs)
        each = (now.journal_bytes + now.catalogue_bytes) / max(1, len(sample))
        return {f"HEADWATER_KEEP={name}": int(number * each) for name, number in removed.items()}

    def _older_documents(self, documents: Mapping[str, int]) -> float:
        """How many of these numbers of documents, by job (id), probably do not belong to the
        newest runs of their job: in a job with 400 runs, three quarters are older than the newest
        100.
        """
        counts = self._generations.current.run_counts(documents, RUNS_COUNTED)
        return sum(
            number * max(0, counts[job] - KEPT_RUNS) / max(1, counts[job])
            for job, number in documents.items()
        )


def _is_of_run(document: Sampled, origins: Mapping[str, PlanOrigin]) -> bool:
    """Whether a document may go with its run; a plan stays with the newest one."""
    return document.kind not in PRODUCERS.bases and document.subject_key in origins


def _job_of(origin: PlanOrigin) -> str:
    return identity.job_id(origin.namespace, origin.job)


def _log_bytes(folder: Path) -> int:
    """The size of the write-ahead logs of journal and catalogue; a log that is removed meanwhile
    counts as 0.
    """
    total = 0
    for file in folder.glob("*.db-wal"):
        with suppress(OSError):
            total += file.stat().st_size
    return total


def _free_bytes(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError as error:
        raise Unavailable(
            "the disk of the data folder cannot be measured", f"{folder}: {error}"
        ) from error


def _origin_field(origins: Mapping[str, PlanOrigin], document: Sampled, field: str) -> str:
    """The producer, the namespace or the job of a document; "" where no run names one."""
    origin = origins.get(document.subject_key)
    if origin is None:
        return ""
    named = {"job": f"{quote(origin.namespace, safe='')}/{origin.job}"}
    return named.get(field) or str(getattr(origin, field))


def _shares(sizes: Iterable[tuple[str, int]], used: int) -> tuple[Share, ...]:
    """The shares, the largest first; together they have ``used`` bytes."""
    counted: Counter[str] = Counter()
    for name, size in sizes:
        counted[name] += size + 1  # an empty one counts, too
    total = counted.total()
    return tuple(
        Share(name, size / total, int(used * size / total))
        for name, size in counted.most_common(LARGEST)
    )
