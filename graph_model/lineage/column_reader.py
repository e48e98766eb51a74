"""Columns as catalogue and graph have them, each read once for a question: those of a table at a
time, and the derivations, influences and names of columns.

The columns of a table are those of its newest schema, and those that lineage alone names. A client
of OpenLineage may send column lineage without a schema, and the schema with which one job reads a
file may lack columns of another job. So a table has, beside the columns of its newest schema:

- those that a visible write derives, or that visible plans read from the table;
- the known fields of any of its columns: ``items.sku`` in ``items``.

A column of a dataset at a moment (``Cell``), and a derivation between two of them (``Hop``), are
values. The methods that ``learn`` read what is not known yet, and keep it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from functools import lru_cache
from typing import Final, NamedTuple

from graph_model import identity, labels, naming
from graph_model.facts import Edge
from graph_model.lineage.chains import Way
from graph_model.lineage.history import Moment
from graph_model.lineage.history.history import moment_of
from graph_model.lineage.questions import COLUMN_LIMIT, HUB_LIMIT, ColumnNode, WalkEvidence
from graph_model.lineage.walk import Step, readers_of
from graph_model.stores.graph import Direction, EdgePage

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
    if "." not in path:  # most columns
        return [path]
    segments = naming.split_path(path)
    outer = range(min(len(segments) - 1, _MOST_HOLDERS), 0, -1)
    return [path, *(naming.column_path(segments[:length]) for length in outer)]


class Cell(NamedTuple):
    """A column of a dataset at a moment.

    ``known``: the path of the known column that stands for it in an answer; "" for its own. The
    ``path`` "" stands for a reader: what its moment holds of columns that no document names.
    """

    moment: Moment
    path: str
    known: str = ""

    @property
    def name(self) -> Name:
        return self.moment.dataset, self.known or self.path


class Hop(NamedTuple):
    """A derivation by a job, between columns at their locations, and its source column.

    ``own``: the derivation leads into the column itself, not into a struct that contains it.
    ``written``: the plan's name (an id) for the table that it wrote.
    """

    edge: Edge
    source: Cell
    job: str
    own: bool = True
    written: str = ""


def cell_at(column: Name, at: int | None) -> Cell:
    """The column as it is visible at the time; without a time at the end of all times."""
    dataset, path = column
    return Cell(moment_of(dataset, at), path)


def is_derived(hops: Iterable[Hop]) -> bool:
    """Whether any of these hops into a column leads into the column itself."""
    return any(hop.own for hop in hops)


def way_of(hop: Hop) -> Way[Cell]:
    """The hop as a step of a chain."""
    kind, how = str(hop.edge.value("kind")), str(hop.edge.value("how"))
    return Way(hop.job, hop.source, kind, how, str(hop.edge.value("expression") or ""))


def is_followed(edge: Edge, *, indirect: bool) -> bool:
    """Whether a walk follows the edge: one that is ``indirect`` follows influences as well."""
    return indirect or edge.value("kind") == labels.DIRECT


@lru_cache(maxsize=20_000)
def column_id(column: Name) -> str:
    return identity.column_id(*column)


def node_of(column: Name) -> ColumnNode:
    return ColumnNode(column_id(column), *column)


def with_structs(column: Name) -> list[Name]:
    """A column and the structs that contain it, innermost first."""
    dataset, path = column
    return [(dataset, holder) for holder in holders(path)]


def structs_around(columns: Iterable[Name]) -> set[Name]:
    """The structs that contain these columns."""
    return {struct for column in columns for struct in with_structs(column)[1:]}


def moved(edge: Edge, source: Name, target: Name) -> Edge:
    """The same derivation between columns at their locations: with the ids of the tables there."""
    out_id, in_id = column_id(source), column_id(target)
    if (edge.out_id, edge.in_id) == (out_id, in_id):
        return edge
    return edge._replace(id=f"{edge.id}.{out_id}.{in_id}", out_id=out_id, in_id=in_id)


def from_column(edge: Edge, source: Name) -> Edge:
    """The same derivation from another column."""
    out_id = column_id(source)
    return edge._replace(id=f"{edge.id}.{out_id}", out_id=out_id)


_NO_GAPS: Final = "[]"
WrittenColumn = tuple[str, str]
"""(logical plan, id of a column that it writes)."""
Derivations = Mapping[WrittenColumn, tuple[Edge, ...]]
"""Per written column the derivations into it; none where nothing derives it."""


class DerivationReader:
    """One reader serves one question.

    ``names``: per id of a column its name. ``derivations``: per written column those into it.
    ``row_influences``: per logical plan the influences on all rows that it writes. ``outputs``: per
    logical plan the columns that it writes. ``known_fields``: whether a document names a field.
    """

    def __init__(self, evidence: WalkEvidence) -> None:
        self._evidence = evidence
        self._inventory = Inventory(evidence)
        self.names: dict[str, Name] = {}
        self.derivations: dict[WrittenColumn, tuple[Edge, ...]] = {}
        self.row_influences: dict[str, list[Edge]] = {}
        self.outputs: dict[str, frozenset[Name]] = {}
        self.known_fields: dict[Name, bool] = {}
        self._explained: dict[str, frozenset[str]] = {}

    # --- derivations

    def learn_derivations_into(self, pairs: Iterable[tuple[Cell, Step]]) -> None:
        """Read the derivations of each step into its column and the structs around it. The plans
        must be complete, because the structure keeps the result.
        """
        written = {
            (step.logical_plan, column_id((step.target, holder)))
            for cell, step in pairs
            for holder in holders(cell.path)
        }
        new = written.difference(self.derivations)
        kept = self._evidence.structure.derivations.find(new)
        derived = kept | self._read_derivations(new.difference(kept))
        self.derivations |= derived
        self._learn_sources(derived)

    def _read_derivations(
        self, written: Collection[WrittenColumn]
    ) -> dict[WrittenColumn, tuple[Edge, ...]]:
        page = self._edges_into({column for _, column in written})
        derived = _by_written_column(written, page.edges)
        whole = {write: edges for write, edges in derived.items() if write[1] not in page.cut}
        self._evidence.structure.derivations.keep(whole)
        return derived

    def learn_derivations_of(self, plans: Collection[str]) -> None:
        """Read all derivations of these plans."""
        self.derivations |= self._derivations_of(plans)

    def _derivations_of(self, plans: Collection[str]) -> dict[WrittenColumn, tuple[Edge, ...]]:
        """The derivations into every column that these plans write, in a schema or not."""
        targets: defaultdict[str, set[str]] = defaultdict(set)
        for plan, row in self._evidence.history.plans.rows(plans).items():
            targets[row.target].add(plan)
        rows = self._inventory.called(targets.keys() - {""})
        self.names |= rows
        written = [
            (plan, column) for column, (called, _) in rows.items() for plan in targets[called]
        ]
        derived = _by_written_column(written, self._edges_into(rows).edges)
        self._learn_sources(derived)
        return derived

    def derivations_out_of(
        self, columns: Collection[str], structs: Collection[str]
    ) -> tuple[list[Edge], list[Edge]]:
        """The derivations out of these columns (ids), and out of the structs around them where the
        edge names the fields that it leads into; the edges ``supplies`` out of their tables.
        """
        tables = {self.names[column][0] for column in columns}
        page = self._evidence.graph.edges(
            {*columns, *structs, *tables},
            Direction.DOWNSTREAM,
            (labels.DERIVES, labels.SUPPLIES),
            HUB_LIMIT,
        )
        self._evidence.bounds.note_hub(page.cut)
        derived = [
            edge
            for edge in page.edges
            if edge.label == labels.DERIVES and (edge.out_id in columns or edge.value("fields"))
        ]
        return derived, [edge for edge in page.edges if edge.label == labels.SUPPLIES]

    def _edges_into(self, columns: Collection[str]) -> EdgePage:
        if not columns:
            return EdgePage(())
        page = self._evidence.graph.edges(columns, Direction.UPSTREAM, (labels.DERIVES,), HUB_LIMIT)
        self._evidence.bounds.note_hub(page.cut)
        return page

    def _learn_sources(self, derivations: Derivations) -> None:
        """Read the names of the columns that these derivations come from."""
        self.learn_names({edge.out_id for edges in derivations.values() for edge in edges})

    # --- influences on rows, and the columns that they reach

    def learn_influences(self, plans: Collection[str]) -> None:
        """Read the influences on the rows of these plans, and the columns that such plans write."""
        new = set(plans).difference(self.row_influences)
        if not new:
            return
        page = self._evidence.graph.edges(new, Direction.UPSTREAM, (labels.INFLUENCES,), HUB_LIMIT)
        self._evidence.bounds.note_hub(page.cut)
        self.row_influences |= {plan: [] for plan in new}
        for edge in page.edges:
            self.row_influences[edge.in_id].append(edge)
        self.learn_names({edge.out_id for edge in page.edges})
        self._learn_outputs({edge.in_id for edge in page.edges})

    def learn_influenced_plans(self, columns: Collection[str]) -> set[str]:
        """Read the plans whose rows these columns (ids) influence, and the columns that they write;
        the plans.
        """
        page = self._evidence.graph.edges(
            columns, Direction.DOWNSTREAM, (labels.INFLUENCES,), HUB_LIMIT
        )
        self._evidence.bounds.note_hub(page.cut)
        plans = {edge.in_id for edge in page.edges}
        self._learn_outputs(plans)
        for (plan, column), edges in self._derivations_of(plans).items():
            if edges:
                self.outputs[plan] |= {self.names[column]}
        return plans

    def _learn_outputs(self, plans: Collection[str]) -> None:
        """Read the columns of the schemas that these plans write."""
        new = set(plans).difference(self.outputs)
        if not new:
            return
        written = self._evidence.graph.edges(new, Direction.DOWNSTREAM, (labels.WRITES,), HUB_LIMIT)
        self._evidence.bounds.note_hub(written.cut)
        columns = self._columns_of_schemas({edge.in_id for edge in written.edges})
        outputs: dict[str, set[Name]] = {plan: set() for plan in new}
        for edge in written.edges:
            outputs[edge.out_id] |= columns[edge.in_id]
        self.outputs |= {plan: frozenset(names) for plan, names in outputs.items()}

    def _columns_of_schemas(self, schemas: Collection[str]) -> dict[str, set[Name]]:
        held = self._evidence.graph.edges(schemas, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        self._evidence.bounds.note_hub(held.cut)
        self.learn_names({edge.in_id for edge in held.edges})
        columns: dict[str, set[Name]] = {schema: set() for schema in schemas}
        for edge in held.edges:
            if edge.in_id in self.names:
                columns[edge.out_id].add(self.names[edge.in_id])
        return columns

    def columns_written_by(self, plans: Collection[str]) -> dict[str, set[Name]]:
        """Per plan the columns that it writes, as far as they are learnt."""
        written: dict[str, set[Name]] = {plan: set(self.outputs.get(plan, ())) for plan in plans}
        for (plan, column), edges in self.derivations.items():
            if edges and plan in written:
                written[plan].add(self.names[column])
        return written

    def columns_explained_by(self, plans: Collection[str]) -> dict[str, frozenset[str]]:
        """Per plan the paths of the columns that it writes, literals too; none for a plan of which
        no document says where any of them comes from.
        """
        new = set(plans).difference(self._explained)
        if new:
            self.learn_derivations_of(new)
            self._learn_outputs(new)
            derived = {plan for (plan, _), edges in self.derivations.items() if edges}
            written = self.columns_written_by(new & derived)
            self._explained |= dict.fromkeys(new, frozenset())
            self._explained |= {p: frozenset(path for _, path in w) for p, w in written.items()}
        return {plan: self._explained[plan] for plan in plans}

    # --- readers

    def readers_of(self, datasets: Collection[str]) -> dict[str, set[str]]:
        """The logical plans that ever read one of these datasets, each with those."""
        return readers_of(self._evidence, datasets)

    def without_columns(self, plans: Collection[str], named: Set[str]) -> set[str]:
        """The plans among these that only read (what they show is no column of a table), and those
        of which no document names the columns that they read: of a client that reports no column
        lineage, declarations of tables alone. ``named``: plans of known columns.

        A plan with operations and without gaps names its columns, be they none (``count(*)``).
        """
        rows = self._evidence.history.plans.rows(plans)
        reading = {plan for plan, row in rows.items() if not row.target}
        rows = {plan: row for plan, row in rows.items() if plan in reading or plan not in named}
        whole = {plan for plan, row in rows.items() if row.target and row.gaps == _NO_GAPS}
        page = self._evidence.graph.neighbours(
            whole, Direction.DOWNSTREAM, labels.HAS, 1, labels.OPERATION
        )
        rest = rows.keys() - reading - {plan for plan in whole if page.found.get(plan)}
        self.learn_influences(rest)
        rest -= {plan for plan in rest if self.row_influences[plan]}
        derived = self._derivations_of(rest)
        return reading | rest - {plan for (plan, _), edges in derived.items() if edges}

    def exact_readers(self, plans: Collection[str]) -> set[str]:
        """The plans among these that only read, and whose text names every column that they read.
        Their influences must be learnt before.
        """
        return {
            plan
            for plan, row in self._evidence.history.plans.rows(plans).items()
            if not row.target
            and row.gaps == _NO_GAPS
            and any(e.value("origin") == labels.SQL_ORIGIN for e in self.row_influences[plan])
        }

    # --- names

    def learn_names(self, columns: Collection[str]) -> dict[str, Name]:
        """Column ids -> their names; unknown ids are left out."""
        new = set(columns).difference(self.names)
        kept = self._evidence.structure.columns.find(new)
        kept |= self._evidence.structure.joined.find(new.difference(kept))
        read = self._read_names(new.difference(kept))
        self._evidence.structure.columns.keep(read)
        self.names |= kept | read
        return {column: self.names[column] for column in columns if column in self.names}

    def _read_names(self, columns: Collection[str]) -> dict[str, Name]:
        if not columns:
            return {}
        names = self._evidence.history.columns.places(columns)
        unlisted = set(columns).difference(names)  # in no schema
        for vertex in self._evidence.graph.vertices(unlisted) if unlisted else ():
            values = dict(vertex.properties)
            names[vertex.id] = str(values.get("dataset_id", "")), str(values.get("path", ""))
        return names

    def every_column(self, table: str) -> set[Name]:
        """All columns ever reported for a table."""
        return self._inventory.ever((table,))

    def note_every_name(self, columns: Collection[Name]) -> set[str]:
        """The ids of these columns under every name that their tables ever had."""
        names = {column_id(name): name for name in self._inventory.under_every_name(columns)}
        self.names |= names
        return set(names)

    def learn_known_fields(self, fields: Collection[Name]) -> None:
        """Read which of these fields a document names, under any name of their tables."""
        new = set(fields).difference(self.known_fields)
        known = self._inventory.known(new)
        self.known_fields |= {field: field in known for field in new}


def written_column(derivation: Edge) -> WrittenColumn:
    """The column that a derivation leads into, with its logical plan."""
    return str(derivation.value("logical_plan")), derivation.in_id


def _by_written_column(
    written: Iterable[WrittenColumn], edges: Iterable[Edge]
) -> dict[WrittenColumn, tuple[Edge, ...]]:
    """Per written column those of the edges that lead into it."""
    by_column: dict[WrittenColumn, list[Edge]] = {column: [] for column in written}
    for edge in edges:
        column = written_column(edge)
        if column in by_column:
            by_column[column].append(edge)
    return {column: tuple(into) for column, into in by_column.items()}
