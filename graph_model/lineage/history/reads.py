"""The states of datasets that reads saw: the newest state, or the version that a read named."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from graph_model.facts import NO_NUMBER, ReadVersionRow
from graph_model.lineage.history.merging import Write
from graph_model.lineage.history.names import DatasetNames
from graph_model.lineage.history.parts import ReportedParts
from graph_model.lineage.history.read_rule import Bound, Moment
from graph_model.stores.protocols import Catalogue, SuccessfulWrite, VersionId


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
        rows = {
            (write.id, source): self._parts.bound_reads_of(write, source)
            for write, source in listed
        }
        found = {}
        writes = self._writes_of_versions(
            VersionId(places[source, write.at], row.version, row.branch)
            for write, source in listed
            for row in rows[write.id, source]
        )
        for write, source in listed:
            place, partitions = places[source, write.at], self._parts.partitions_read(write, source)
            own = Moment(place, write.at, write.at, partitions)
            bound = [
                _bound_moment(own, row, writes.get(VersionId(place, row.version, row.branch)))
                for row in rows[write.id, source]
            ]
            found[write.id, source] = tuple(dict.fromkeys(bound)) or (own,)
        return found

    def bound_moments(self, reads: Collection[tuple[ReadVersionRow, int]]) -> set[Moment]:
        """The states that these reads of versions saw, each at its time (epoch ms)."""
        places = self._names.locate((row.dataset, at) for row, at in reads)
        spelled = [
            (VersionId(places[row.dataset, at], row.version, row.branch), row, at)
            for row, at in reads
        ]
        writes = self._writes_of_versions(version for version, _, _ in spelled)
        return {
            _bound_moment(Moment(version.target, at, at), row, writes.get(version))
            for version, row, at in spelled
        }

    def bound(self, plans: Collection[str]) -> frozenset[tuple[str, str]]:
        """(logical plan, dataset) of the reads that some execution bound to a version."""
        return self._catalogue.bound_reads(plans) if plans else frozenset()

    def _writes_of_versions(self, asked: Iterable[VersionId]) -> dict[VersionId, SuccessfulWrite]:
        """Per id of a version of a dataset the write that made it, where a document reports it."""
        versions = {version for version in asked if version.id}
        if not versions:
            return {}
        targets = self._names.targets_of({version.target for version in versions})
        spelled = {
            version: [version._replace(target=target) for target, _ in targets[version.target]]
            for version in versions
        }
        asked = {one for some in spelled.values() for one in some}
        writes = self._catalogue.writes_by_version(asked)
        found = {}
        for version, some in spelled.items():
            rows = [writes[one] for one in some if one in writes]
            if rows:
                found[version] = min(rows, key=lambda row: _preference(row, version.branch))
        return found


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
