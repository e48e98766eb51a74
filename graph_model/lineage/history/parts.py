"""The partitions and versions that executions report."""

from __future__ import annotations

from collections.abc import Collection

from graph_model.facts import ReadVersionRow
from graph_model.lineage.history.merging import Write
from graph_model.stores.protocols import Catalogue, SuccessfulWrite


class ReportedParts:
    """Partitions and versions from one catalogue, kept for the life of the object."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.written: dict[str, list[str]] = {}  # execution -> partitions
        self._read: dict[str, dict[str, frozenset[str]]] = {}  # execution -> dataset -> partitions
        self._bound: dict[str, list[ReadVersionRow]] = {}  # execution -> versions it read

    def partitions_read(self, write: Write, dataset: str) -> tuple[str, ...]:
        """The partitions of a dataset that all executions of a write report as read; () for the
        whole.
        """
        read: set[str] = set()
        for execution in write.executions:
            partitions = self._read.get(execution, {}).get(dataset)
            if not partitions:
                return ()
            read |= partitions
        return tuple(sorted(read))

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
            elif part.role == "read":
                read = self._read.setdefault(part.execution, {})
                read[part.dataset] = read.get(part.dataset, frozenset()) | {part.partition}

    def learn_bound_reads(self, rows: Collection[SuccessfulWrite]) -> None:
        new = {row.id for row in rows if row.bound and row.id not in self._bound}
        self._bound |= {execution: [] for execution in new}
        for read in self._catalogue.read_versions(new) if new else ():
            self._bound[read.execution].append(read)
