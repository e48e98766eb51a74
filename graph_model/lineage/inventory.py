"""The columns of tables at a time: those of the newest schema, and those that lineage alone names.

A client of OpenLineage may send column lineage without a schema, and the schema with which one job
reads a file may lack columns of another job. So a table has, beside the columns of its newest
schema:

- those that a visible write derives, or that visible plans read from the table;
- the known fields of any of its columns: ``items.sku`` in ``items``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Set
from typing import Final, NamedTuple

from graph_model import identity, labels, naming
from graph_model.facts import Edge
from graph_model.lineage.history.visible_write_reader import moment_of
from graph_model.lineage.questions import COLUMN_LIMIT, HUB_LIMIT, WalkEvidence
from graph_model.stores.graph import Direction

Name = tuple[str, str]
"""A column as a plan calls it: (dataset id, folded path)."""

_MOST_ROWS: Final = 2 * COLUMN_LIMIT
"""The most columns read, with those of former schemas."""
_MOST_HOLDERS: Final = 64
"""The most structs around a column, counted from the outermost."""


class _VisibleWrite(NamedTuple):
    """A visible write at ``place``, and its plan's name for it: "" where the plan only reads.
    ``at`` is None for the writes of a period.
    """

    place: str
    target: str
    at: int | None


class Inventory:
    """The columns of tables; the bounds of the evidence note what truncated a result.

    ``without_schema``: the tables (ids) whose ``columns`` were asked, and of which no schema was
    visible at the time.
    """

    def __init__(self, evidence: WalkEvidence) -> None:
        self._evidence = evidence
        self.without_schema: set[str] = set()

    def columns(self, datasets: Collection[str], at: int | None) -> set[Name]:
        """All columns of these datasets at the time, nested ones included.

        A fixed number of requests for any number of datasets; where the schemas list every
        reported column, none to the graph.
        """
        listed = self._listed(datasets, at)
        self.without_schema |= set(datasets).difference(dataset for dataset, _ in listed)
        rows = self._rows(datasets)
        reported = self._placed(rows, datasets)
        unlisted = {
            name for name in reported if name not in listed and not _is_field_of(name, listed)
        }
        known = listed | self._used(rows, unlisted, at)
        return known | {name for name in reported if _is_field_of(name, known)}

    def fields(self, columns: Collection[Name]) -> set[Name]:
        """The known columns nested in these columns."""
        datasets = {dataset for dataset, _ in columns}
        reported = self.ever(datasets) if datasets else set()
        return {name for name in reported if _is_field_of(name, columns)}

    def ever(self, datasets: Collection[str]) -> set[Name]:
        """All columns ever reported for these datasets."""
        return self._placed(self._rows(datasets), datasets)

    def known(self, columns: Collection[Name]) -> set[Name]:
        """Those of these columns that a document names, by any name of their table."""
        if not columns:
            return set()
        ids = {identity.column_id(*called): name for name, called in self._with_names(columns)}
        return {ids[key] for key in self._evidence.history.columns.places(ids)}

    def under_every_name(self, columns: Collection[Name]) -> set[Name]:
        """These columns under every name that their tables ever had."""
        return {called for _, called in self._with_names(columns)}

    def _with_names(self, columns: Collection[Name]) -> Iterator[tuple[Name, Name]]:
        """Each column with itself, and with itself under each name that its table ever had."""
        names = self._evidence.history.names.names_of({dataset for dataset, _ in columns})
        for dataset, path in columns:
            for called in (dataset, *names[dataset]):
                yield (dataset, path), (called, path)

    def ever_located_with_fields(self, columns: Set[Name]) -> set[Name]:
        """These columns and the known ones nested in them, at every location that their tables ever
        had.
        """
        if not columns:
            return set()
        located = self._ever_located(columns)
        nested = self._evidence.history.columns.fields(self.under_every_name(located | columns))
        fields = {name for name in self._ever_located(nested) if _is_field_of(name, located)}
        return located | self._ever_located(fields)

    def called(self, names: Collection[str]) -> dict[str, Name]:
        """By id all columns ever reported for tables with exactly these names (ids)."""
        rows = self._evidence.catalogue.columns_of(names, _MOST_ROWS + 1)
        if len(rows) > _MOST_ROWS:
            self._evidence.bounds.cut("nodes", COLUMN_LIMIT)
        return {row.id: (row.dataset, row.path) for row in rows[:_MOST_ROWS]}

    def _listed(self, datasets: Collection[str], at: int | None) -> set[Name]:
        """The columns of the newest visible schemas."""
        return {
            (dataset, path)
            for dataset, schema in self._evidence.catalogue.newest_schemas(datasets, at).items()
            for path in schema_paths(schema.columns)
        }

    def _rows(self, datasets: Collection[str]) -> dict[str, Name]:
        """By id all columns of these datasets under each of their names."""
        names = self._evidence.history.names.names_of(datasets)
        return self.called({name for dataset in datasets for name in (dataset, *names[dataset])})

    def _placed(self, rows: Mapping[str, Name], datasets: Collection[str]) -> set[Name]:
        """These columns in each dataset that their table ever stood for."""
        places = self._evidence.history.names.locations_of({called for called, _ in rows.values()})
        return {
            (place, path)
            for called, path in rows.values()
            for place in (called, *places[called])
            if place in datasets
        }

    def _used(
        self, rows: Mapping[str, Name], unlisted: Collection[Name], at: int | None
    ) -> set[Name]:
        """Those of the ``unlisted`` columns that a visible write at the time derives or reads.
        Edges are asked of them alone, and of columns that a write derives for them: under another
        name of their table, or in a location that shares its files.
        """
        if not unlisted:
            return set()
        called = self.under_every_name(unlisted)
        paths = {path for _, path in unlisted}
        tables = {dataset for dataset, _ in unlisted}
        near = self._written_at(tables, at)
        read = [key for key, name in rows.items() if name in called]
        written = [key for key, (table, path) in rows.items() if table in near and path in paths]
        into = self._edges({*read, *written}, Direction.UPSTREAM, (labels.DERIVES,))
        out_of = self._edges(read, Direction.DOWNSTREAM, (labels.DERIVES, labels.INFLUENCES))
        visible = self._visible_writes({_plan_of(edge) for edge in (*into, *out_of)}, tables, at)
        derived = {
            (write.place, rows[edge.in_id][1])
            for edge in into
            for write in visible[_plan_of(edge)]
            if write.target == rows[edge.in_id][0]
        }
        reads = {
            (rows[edge.out_id], write.at) for edge in out_of for write in visible[_plan_of(edge)]
        }
        located = self._located({(name, at) for name, at in reads if at is not None})
        located |= self._ever_located({name for name, at in reads if at is None})
        return (derived | located).intersection(unlisted)

    def _written_at(self, places: Collection[str], at: int | None) -> set[str]:
        """The tables that the writes visible at these places have written, as their plans call
        them.
        """
        targets: set[str] = set()
        former: set[str] = set()
        moments = {moment_of(place, at) for place in places}
        for seen in self._evidence.history.visible_writes.of(moments).values():
            targets |= {write.target for write in seen.writes}
            targets |= {flow.target for flow in seen.declared}
            former |= {older.logical_plan for older in seen.older}
        rows = self._evidence.history.plans.rows(former)
        return targets | {row.target for row in rows.values()}

    def _located(self, reads: Collection[tuple[Name, int]]) -> set[Name]:
        places = self._evidence.history.names.locate((called, at) for (called, _), at in reads)
        return {(places[called, at], path) for (called, path), at in reads}

    def _ever_located(self, columns: Collection[Name]) -> set[Name]:
        places = self._evidence.history.names.locations_of({called for called, _ in columns})
        return {(place, path) for called, path in columns for place in places[called]}

    def _edges(
        self, columns: Collection[str], direction: Direction, wanted: tuple[str, ...]
    ) -> tuple[Edge, ...]:
        page = self._evidence.graph.edges(columns, direction, wanted, HUB_LIMIT)
        self._evidence.bounds.note_hub(page.cut)
        return tuple(page.edges)

    def _visible_writes(
        self, plans: Collection[str], tables: Set[str], at: int | None
    ) -> Mapping[str, set[_VisibleWrite]]:
        """Per logical plan its visible writes at these tables, and at the ends of these plans."""
        visible: defaultdict[str, set[_VisibleWrite]] = defaultdict(set)
        rows = self._evidence.history.plans.rows(plans)
        targets = {row.target for row in rows.values()} - {""}
        places = self._evidence.history.names.locations_of(targets)
        ends = tables | {place for target in targets for place in places[target]}
        ends |= {plan for plan, row in rows.items() if not row.target}  # it only reads
        moments = {moment_of(end, at) for end in ends}
        for moment, seen in self._evidence.history.visible_writes.of(moments).items():
            place = moment.dataset
            for write in seen.writes:
                visible[write.logical_plan].add(_VisibleWrite(place, write.target, write.at))
            for flow in seen.declared:
                visible[flow.logical_plan].add(_VisibleWrite(place, flow.target, moment.until - 1))
            for older in seen.older:
                if older.logical_plan in rows:
                    target = rows[older.logical_plan].target
                    visible[older.logical_plan].add(_VisibleWrite(place, target, None))
        return visible


def schema_paths(columns: str) -> list[str]:
    """The paths of the columns in a schema's JSON, in order."""
    return [str(column["path"]) for column in json.loads(columns)]


def _is_field_of(column: Name, of: Collection[Name]) -> bool:
    dataset, path = column
    return any((dataset, holder) in of for holder in holders(path)[1:])


def _plan_of(edge: Edge) -> str:
    return edge.in_id if edge.label == labels.INFLUENCES else str(edge.value("logical_plan"))


def holders(path: str) -> list[str]:
    """A column and the structs that contain it, innermost first: ``a.b`` => ``a.b``, ``a``.

    Of structs the outermost 64: a name of a million dots has no more.
    """
    segments = naming.split_path(path)
    outer = range(min(len(segments) - 1, _MOST_HOLDERS), 0, -1)
    return [path, *(naming.column_path(segments[:length]) for length in outer)]
