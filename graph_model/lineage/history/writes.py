"""The writes that executions report, each once: rows of a catalogue, merged; and the partitions,
the files of lists and the versions that they report.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from graph_model import identity, labels
from graph_model.facts import LISTED, ExecutionRow, ReadVersionRow
from graph_model.lineage.history.merging import (
    REACH_MS,
    Details,
    Reports,
    Write,
    as_one,
    as_report,
    group_executions,
    merge_writes,
    write_of,
)
from graph_model.lineage.history.names import DatasetNames
from graph_model.lineage.history.plans import PlanRows
from graph_model.lineage.history.read_rule import BEGINNING, END
from graph_model.stores.catalogue_values import Span, SpanWrites, SuccessfulWrite

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue


class ReportedParts:
    """Partitions, files and versions from one catalogue, kept for the life of the object."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.written: dict[str, list[str]] = {}  # execution -> partitions
        self._read: dict[str, dict[str, frozenset[str]]] = {}  # execution -> dataset -> partitions
        self._files: dict[str, dict[str, frozenset[str]]] = {}  # the same of listed files
        self._lists: dict[
            tuple[str, ...], frozenset[str]
        ] = {}  # what stands for a list => its files
        self._bound: dict[str, list[ReadVersionRow]] = {}  # execution -> versions it read

    def partitions_read(self, write: Write, dataset: str) -> tuple[str, ...]:
        """The partitions of a dataset that all executions of a write report as read; () for the
        whole. Of a pattern that stands for a list it is one text for the list (``files``).
        """
        if read := _of_all(self._files, write, dataset):
            listed = (f"{LISTED}={identity.digest(*sorted(read))}",)
            self._lists[listed] = read
            return listed
        return tuple(sorted(_of_all(self._read, write, dataset)))

    def files(self, partitions: tuple[str, ...]) -> frozenset[str] | None:
        """The files of the list that these partitions stand for; None for any others."""
        return self._lists.get(partitions) if self._lists else None

    def bound_reads_of(self, write: Write, dataset: str) -> list[ReadVersionRow]:
        return [
            row
            for execution in write.executions
            for row in self._bound.get(execution, ())
            if row.dataset == dataset
        ]

    def learn_partitions(self, rows: Collection[SuccessfulWrite]) -> None:
        targets = {row.id: row.target for row in rows if row.partitioned}
        new = {execution for execution in targets if execution not in self.written}
        self.written |= {execution: [] for execution in new}
        for part in self._catalogue.partitions(new) if new else ():
            if part.role == "write" and part.dataset == targets[part.execution]:
                self.written[part.execution].append(part.partition)
            elif part.role != "write":
                kept = self._files if part.role == LISTED else self._read
                read = kept.setdefault(part.execution, {})
                read[part.dataset] = read.get(part.dataset, frozenset()) | {part.partition}

    def learn_bound_reads(self, rows: Collection[SuccessfulWrite]) -> None:
        new = {row.id for row in rows if row.bound and row.id not in self._bound}
        self._bound |= {execution: [] for execution in new}
        for read in self._catalogue.read_versions(new) if new else ():
            self._bound[read.execution].append(read)


def _of_all(
    known: Mapping[str, Mapping[str, frozenset[str]]], write: Write, dataset: str
) -> frozenset[str]:
    """What the executions of a write report of a dataset; nothing where one of them does not."""
    found = [known.get(execution, {}).get(dataset) for execution in write.executions]
    return frozenset[str]().union(*filter(None, found)) if all(found) else frozenset()


_Key = TypeVar("_Key")
_Row = TypeVar("_Row", SuccessfulWrite, Write)

#: Where writes depend on each other, so many since the last overwrite are read one by one: for all
#: moments together, and the least number for each.
_ROWS_AT_ONCE: Final = 2_000
_LEAST_ROWS: Final = 64
#: The most executions of a logical plan, and writes of a table since its last overwrite, that are
#: followed one by one; of more, the first and the last bound the others.
EXACT_EXECUTIONS: Final = 8


class ReportedWrites:
    """Writes and attempted writes from one catalogue."""

    def __init__(
        self, catalogue: Catalogue, names: DatasetNames, plans: PlanRows, parts: ReportedParts
    ) -> None:
        self._catalogue = catalogue
        self._names = names
        self._plans = plans
        self._parts = parts

    def read(self, spans: Mapping[_Key, Collection[Span]]) -> dict[_Key, SpanWrites]:
        asked = {span for some in spans.values() for span in some}
        most = most_rows(len(asked))
        found = self._catalogue.writes(asked, most=most, per_plan=EXACT_EXECUTIONS + 1)
        return {key: joined([found[span] for span in some]) for key, some in spans.items()}

    def merged(self, rows: Mapping[_Key, SpanWrites]) -> dict[_Key, list[Write]]:
        """Per key the writes, merged from all reports of the same applications; a write counts if
        one of its executions is among the rows.
        """
        listed = _distinct(row for some in rows.values() for row in some.writes)
        self._plans.note(listed)
        pairs = {(row.target, row.application_id) for row in listed if row.application_id}
        everything = _distinct((*listed, *(self._catalogue.companions(pairs) if pairs else ())))
        self._parts.learn_bound_reads(everything)
        by_execution = {
            execution: write
            for write in merge_writes(everything, self._details(everything))
            for execution in write.executions
        }
        return {
            key: _distinct(by_execution[row.id] for row in some.writes)
            for key, some in rows.items()
        }

    def last(self, datasets: Collection[str], at: int | None) -> dict[str, int]:
        """Per dataset the time of its newest completed write at or before ``at``.

        A write to a branch of a table is not a write of the table: see ``datasets.last_writer``.
        """
        alone = {d for d, found in self._names.targets_of(datasets).items() if len(found) == 1}
        # An execution far from all others in time cannot be a second report of their write.
        known = self._catalogue.lone_last_writes(alone, at, apart=REACH_MS)
        lone = {dataset: last for dataset, last in known.items() if last is not None}
        return lone | self._merged_last(set(datasets) - known.keys(), at)

    def _merged_last(self, datasets: Collection[str], at: int | None) -> dict[str, int]:
        if not datasets:
            return {}
        targets = self._names.targets_of(datasets)
        asked = {target for found in targets.values() for target, _ in found}
        newest = self._catalogue.last_writes(asked, at)
        spans: dict[str, list[Span]] = {}
        moved = {name for name, place in chain(*targets.values()) if place and name in newest}
        places = self._names.locate((name, newest[name]) for name in moved)
        for dataset, found in targets.items():
            written = [(target, place) for target, place in found if target in newest]
            if not written:
                continue
            last = max(newest[target] for target, _ in written)
            since, before = last - REACH_MS, last + 1
            if any(place and places[name, newest[name]] != place for name, place in written):
                # The name's newest write is one of another location.
                since, before = BEGINNING, END if at is None else at + 1
            spans[dataset] = [Span(target, since, before, place) for target, place in found]
        rows = self.read(spans)
        writes = self.merged(rows)
        return {
            dataset: max(write.at for write in writes[dataset])
            for dataset in spans
            if writes[dataset]
        }

    def reports_of(self, target: str, states: Sequence[str] = labels.STATES) -> list[Reports]:
        """The reports of each write or attempted write of a dataset that has several."""
        return self._reports(
            lambda state: self._catalogue.companions_of_target(target, state), states
        )

    def reports(self, pairs: Collection[tuple[str, str]]) -> list[Reports]:
        """The reports that ``reports_of`` gives, of these pairs (target, application id) alone."""
        named = {pair for pair in pairs if pair[1]}
        return self._reports(lambda state: self._catalogue.companions(named, state), labels.STATES)

    def _reports(
        self, rows_of: Callable[[str], Iterable[SuccessfulWrite]], states: Iterable[str]
    ) -> list[Reports]:
        found: list[Reports] = []
        for state in states:
            rows = list(rows_of(state))
            incomplete = self._plans.incomplete({row.logical_plan for row in rows})
            found += group_executions(rows, incomplete)
        return [group for group in found if len(group) > 1]

    def completed(
        self, rows: Iterable[ExecutionRow], reports: Iterable[Reports]
    ) -> list[ExecutionRow]:
        """These rows, each completed from other reports of the same write."""
        listed = list(rows)
        group_of = {row.id: group for group in reports for row in group}
        others = {other.id for row in listed for other in group_of.get(row.id, ())}
        known = {row.id: row for row in self._catalogue.executions_of(others)} if others else {}
        found = []
        for row in listed:
            ids = (other.id for other in group_of.get(row.id, ()) if other.id != row.id)
            more = [known[other] for other in ids if other in known]
            found.append(as_one([row, *more]) if more else row)
        return found

    def reported(
        self, rows: Iterable[ExecutionRow], reports: Iterable[Reports]
    ) -> dict[str, Write]:
        """Per row the write or attempted write that it reports, merged with the other reports of
        it.
        """
        group_of = {row.id: group for group in reports for row in group}
        groups = {row.id: group_of.get(row.id) or (as_report(row),) for row in rows}
        details = self._details({one for group in groups.values() for one in group})
        return {key: write_of(group, details) for key, group in groups.items()}

    def _details(self, rows: Collection[SuccessfulWrite]) -> Details:
        self._parts.learn_partitions(rows)
        plans = self._plans.rows(_plans_to_compare(rows))
        return Details(
            self._parts.written,
            {plan: _number_of_gaps(row.gaps) for plan, row in plans.items()},
            {plan: _key_names(row.partition_keys) for plan, row in plans.items()},
            self._plans.incomplete(plans),
        )


def _distinct(found: Iterable[_Row]) -> list[_Row]:
    """Each once, by its id: a text keeps its hash, a row computes it from all fields every time."""
    return list({one.id: one for one in found}.values())


def _plans_to_compare(rows: Collection[SuccessfulWrite]) -> set[str]:
    """The plans whose details may decide a merge: their application has several reports, or they
    wrote in dynamic mode.
    """
    reports = Counter((row.target, row.application_id) for row in rows if row.application_id)
    return {
        row.logical_plan
        for row in rows
        if row.dynamic or reports[row.target, row.application_id] > 1
    }


# The caches below are small: nearly all plans have the default.


@lru_cache(maxsize=1_000)
def _number_of_gaps(gaps: str) -> int:
    """The number of gaps in column lineage; gaps about replaced partitions do not count."""
    return sum(gap["code"] != labels.PARTITIONS_UNKNOWN for gap in json.loads(gaps))


@lru_cache(maxsize=1_000)
def _key_names(partition_keys: str) -> frozenset[str]:
    return frozenset(json.loads(partition_keys))


def most_rows(spans: int) -> int:
    """The number of writes of each span to read one by one, for this many spans."""
    return max(_LEAST_ROWS, _ROWS_AT_ONCE // max(1, spans))


def joined(found: Collection[SpanWrites]) -> SpanWrites:
    if len(found) == 1:
        return next(iter(found))
    writes = dict.fromkeys(write for some in found for write in some.writes)
    older = dict.fromkeys(plan for some in found for plan in some.older)
    return SpanWrites(tuple(writes), tuple(older))
