"""The partitions, the files of lists and the versions that executions report."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from graph_model import identity
from graph_model.facts import LISTED, ReadVersionRow
from graph_model.lineage.history.merging import Write
from graph_model.stores.protocols import Catalogue, SuccessfulWrite


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
