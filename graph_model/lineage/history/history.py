"""The history that one question reads from a catalogue, each row once: all readers of this package,
that of the states which reads saw, and that of the columns in schemas.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from graph_model.facts import NO_NUMBER, ReadVersionRow
from graph_model.lineage.history.rules import Bound, Moment, Write
from graph_model.lineage.history.visible_write_reader import DeclaredFlows, VisibleWriteReader
from graph_model.lineage.history.writes import (
    DatasetNames,
    PlanRows,
    PlansInForce,
    ReportedParts,
    ReportedWrites,
    SharedLocations,
)
from graph_model.lineage.structure import Structure
from graph_model.stores.catalogue_values import SuccessfulWrite, VersionId

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue


class History:
    """Readers that share the results of catalogue queries. Not to be shared between threads.

    ``structure`` keeps datasets and rows of logical plans for later questions.
    """

    def __init__(self, catalogue: Catalogue, structure: Structure | None = None) -> None:
        structure = structure or Structure()
        parts = ReportedParts(catalogue)
        self.names = DatasetNames(catalogue)
        self.locations = SharedLocations(catalogue, structure.datasets)
        self.plans = PlanRows(catalogue, structure.plans)
        self.columns = SchemaColumns(catalogue)
        self.writes = ReportedWrites(catalogue, self.names, self.plans, parts)
        self.reads = ReadStates(catalogue, self.names, parts)
        self.in_force = PlansInForce(catalogue, self.names, self.plans)
        self.declared = DeclaredFlows(catalogue, self.names)
        self.visible_writes = VisibleWriteReader(
            catalogue, self.names, self.locations, self.plans, parts, self.writes, self.declared
        )


_Key = TypeVar("_Key", bound=Hashable)

_BoundRead = tuple[Moment, Collection[ReadVersionRow]]
"""A read as if it named no version, and the versions that it named."""


class ReadStates:
    """Reads and the versions that they named, from one catalogue."""

    def __init__(self, catalogue: Catalogue, names: DatasetNames, parts: ReportedParts) -> None:
        self._catalogue = catalogue
        self._names = names
        self._parts = parts

    def moments(
        self, reads: Iterable[tuple[Write, str]]
    ) -> dict[tuple[str, str], tuple[Moment, ...]]:
        """Per write (by id) and dataset that its plan reads, the state that it read: the newest one
        at the time of the write, or the versions to which the read was bound.
        """
        listed = list(reads)
        places = self._names.locate((source, write.at) for write, source in listed)
        states: dict[tuple[str, str], tuple[Moment, ...]] = {}
        bound: dict[tuple[str, str], _BoundRead] = {}
        for write, source in listed:
            partitions = self._parts.partitions_read(write, source)
            until = write.at + write.running  # a run in progress reads what comes at its time, too
            own = Moment(places[source, write.at], until, until, partitions)
            states[write.id, source] = (own,)
            if rows := self._parts.bound_reads_of(write, source):
                bound[write.id, source] = own, rows
        return states | self._of_versions(bound)

    def learn_versions(self, rows: Collection[SuccessfulWrite]) -> None:
        """Read the versions that these executions named."""
        self._parts.learn_bound_reads(rows)

    def versions_named(self, write: Write, source: str) -> Sequence[ReadVersionRow]:
        """The versions of a dataset that a write named in its reads, as far as they are learnt."""
        return self._parts.bound_reads_of(write, source)

    def bound_moments(self, reads: Collection[tuple[ReadVersionRow, int]]) -> set[Moment]:
        """The states that these reads of versions saw, each at its time (epoch ms)."""
        places = self._names.locate((row.dataset, at) for row, at in reads)
        states = self._of_versions(
            {(row, at): (Moment(places[row.dataset, at], at, at), (row,)) for row, at in reads}
        )
        return {moment for moments in states.values() for moment in moments}

    def _of_versions(self, reads: Mapping[_Key, _BoundRead]) -> dict[_Key, tuple[Moment, ...]]:
        """Per read the states that it saw, each once."""
        writes = self._writes_of_versions(
            _version_of(own, row) for own, rows in reads.values() for row in rows
        )
        states = {}
        for key, (own, rows) in reads.items():
            moments = (_bound_moment(own, row, writes.get(_version_of(own, row))) for row in rows)
            states[key] = tuple(dict.fromkeys(moments))
        return states

    def bound(self, plans: Collection[str]) -> frozenset[tuple[str, str]]:
        """(logical plan, dataset) of the reads that some execution bound to a version."""
        return self._catalogue.bound_reads(plans) if plans else frozenset()

    def _writes_of_versions(self, asked: Iterable[VersionId]) -> dict[VersionId, SuccessfulWrite]:
        """Per id of a version of a dataset the write that made it, where a document reports it."""
        versions = {version for version in asked if version.id}
        if not versions:
            return {}
        targets = self._names.targets_of({version.target for version in versions})
        under_names = {
            version: [version._replace(target=target) for target, _ in targets[version.target]]
            for version in versions
        }
        writes = self._catalogue.writes_by_version(
            {named for some in under_names.values() for named in some}
        )
        by_version = {}
        for version, some in under_names.items():
            rows = [writes[named] for named in some if named in writes]
            if rows:
                by_version[version] = min(rows, key=lambda row: _preference(row, version.branch))
        return by_version


def _version_of(own: Moment, row: ReadVersionRow) -> VersionId:
    return VersionId(own.dataset, row.version, row.branch)


def _bound_moment(own: Moment, row: ReadVersionRow, write: SuccessfulWrite | None) -> Moment:
    """``own`` bound to the version that was read; ``write`` made it.

    A snapshot belongs to the branch to which it was written, whichever branch a read names:

        snapshot 7 of audit, read by its id (as main, number 4)  =>  audit, up to 4
    """
    made = None if write is None or write.version_number is None else write
    if made is not None and (row.number == NO_NUMBER or made.branch != row.branch):
        return own._replace(bound=(Bound(made.branch, made.version_number or 0, row.since),))
    if row.number != NO_NUMBER:
        return own._replace(bound=(Bound(row.branch, row.number, row.since),))
    if write is None:
        return own
    return own._replace(since=write.at + 1, until=write.at + 1)


def _preference(row: SuccessfulWrite, branch: str) -> tuple[bool, int, str]:
    """The order of preference among writes that report one version: writes to its branch come
    first, then the earliest.
    """
    return (row.branch != branch, row.at, row.id)


class SchemaColumns:
    """Columns from one catalogue, kept for the life of the object."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._columns: dict[str, tuple[str, str]] = {}  # column -> (dataset, path)

    def places(self, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """Per column that occurs in a schema its dataset and path."""
        new = set(ids) - self._columns.keys()
        if new:
            rows = self._catalogue.columns(new)
            self._columns |= {row.id: (row.dataset, row.path) for row in rows}
        return {column: self._columns[column] for column in ids if column in self._columns}

    def fields(self, columns: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """The known columns nested in these, each a (dataset, path)."""
        return {(row.dataset, row.path) for row in self._catalogue.fields(columns)}
