"""The hops of a step of the table walk into a column: the derivations and influences of its plan.

An edge into a struct leads into the fields of the struct as well, and a copied field comes from the
same field of the source. Columns of one path meet in locations that share files, and a read of one
is a read of the other:

    in/orders_1.csv#amount  ~  in/orders_*.csv#amount  ~  in#amount

Which locations share files is asked as in the walk over tables; their columns meet by their folded
paths. A column counts under the name of a location where a document names it there; on the way to a
reader that names no columns it counts without.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from graph_model import labels, naming
from graph_model.facts import Edge
from graph_model.lineage.bounds import CANDIDATE_LIMIT, WalkEvidence
from graph_model.lineage.columns.derivations import (
    Cell,
    DerivationReader,
    Derivations,
    Hop,
    WrittenColumn,
    column_id,
    from_column,
    is_followed,
    moved,
    with_structs,
)
from graph_model.lineage.history import Moment
from graph_model.lineage.inventory import Inventory, Name, holders
from graph_model.lineage.questions import InfluenceCount, Influences
from graph_model.lineage.walk import Step

_UNNAMED: Final = Edge("", labels.DERIVES, "", "", (("how", labels.MAY_READ), ("kind", "")))
"""Stands for a derivation that no document names; it is never drawn."""
_Influence = tuple[str, Cell]
"""(how, column) of a column that influences another."""


class _Flow(NamedTuple):
    """A derivation into a column, or into a struct that contains it (not ``own``), and the path of
    the column that it comes from.
    """

    edge: Edge
    source: str
    own: bool


class StepHops:
    """The hops by these derivations, which are those of the reader or some that a walk has chosen.

    ``indirect``: influences count as hops. Those on rows must be learnt before.
    """

    def __init__(
        self, reader: DerivationReader, derivations: Derivations, *, indirect: bool
    ) -> None:
        self._reader = reader
        self._derivations = derivations
        self._indirect = indirect
        self._field_sources: dict[WrittenColumn, naming.FieldSources[Edge]] = {}

    def into(self, pairs: Collection[tuple[Cell, Step]]) -> list[tuple[Cell, list[Hop]]]:
        """Per column and step the hops into the column, where no later plan has replaced them."""
        current = self._current(pairs)
        self._learn_known_fields(current)
        return [(cell, self._hops(cell, step)) for cell, step in current]

    def _current(self, pairs: Collection[tuple[Cell, Step]]) -> Collection[tuple[Cell, Step]]:
        """The pairs but those of a step whose expression for the column was replaced: a plan of a
        later run says how it computes the columns that it writes, and this or a struct around it is
        among them.
        """
        newer = {plan for _, step in pairs for plan in step.replaced_by}
        if not newer:
            return pairs
        explained = self._reader.columns_explained_by(newer)
        return [
            (cell, step)
            for cell, step in pairs
            if all(explained[p].isdisjoint(holders(cell.path)) for p in step.replaced_by)
        ]

    def _hops(self, cell: Cell, step: Step) -> list[Hop]:
        found = [
            flow
            for flow in self._flows(cell.path, step)
            if is_followed(flow.edge, indirect=self._indirect)
        ]
        if self._indirect and self._reader.row_influences[step.logical_plan]:
            own = self._writes(cell.path, step)
            if own or self._writes_any_holder(cell.path, step):
                found += self._flows_into_rows(step, own=own)
        return [
            Hop(moved(flow.edge, source.name, cell.name), source, step.job, flow.own, step.target)
            for flow in found
            for source in self._sources(flow, step)
        ]

    def into_reader(self, step: Step, paths: Mapping[str, Iterable[str]]) -> Iterator[Hop]:
        """The hops of a step of a reader from these columns (per dataset) of the tables that it
        read: an influence on its rows where one is known, else it may read the column.
        """
        known: dict[Name, Edge] = {}
        for edge in (
            self._reader.row_influences.get(step.logical_plan, ()) if self._indirect else ()
        ):
            if edge.out_id in self._reader.names:
                known[self._reader.names[edge.out_id]] = _as_column_edge(edge)
        for called, moment in step.inputs:
            for path in paths.get(moment.dataset, ()):
                edge = known.get((called, path), _UNNAMED)
                yield Hop(edge, Cell(moment, path), step.job, own=False)

    # --- the edges into a column

    def _flows(self, path: str, step: Step) -> Iterator[_Flow]:
        """The derivations of one step into a column and the structs around it. An edge into a
        struct may lead into other fields of it, or from a field of its source.
        """
        names = self._reader.names
        for holder in holders(path):
            written = step.logical_plan, column_id((step.target, holder))
            edges = self._derivations.get(written, ())
            if holder == path:
                named = (edge for edge in edges if edge.out_id in names)
                yield from (_Flow(edge, names[edge.out_id][1], own=True) for edge in named)
            elif edges:
                found = self._sources_by_field(written).of(path[len(holder) + 1 :])
                flows = {
                    (edge.id, source): _Flow(edge, source, own=False) for edge, source in found
                }
                yield from flows.values()

    def _sources_by_field(self, struct: WrittenColumn) -> naming.FieldSources[Edge]:
        """The derivations into a struct by its fields: read once for all of its fields."""
        if struct not in self._field_sources:
            names = self._reader.names
            self._field_sources[struct] = naming.FieldSources(
                (edge, names[edge.out_id][1], str(edge.value("fields") or naming.WHOLE))
                for edge in self._derivations[struct]
                if edge.out_id in names
            )
        return self._field_sources[struct]

    def _flows_into_rows(self, step: Step, *, own: bool) -> list[_Flow]:
        """The influences on all rows that a step writes."""
        names = self._reader.names
        return [
            _Flow(_as_column_edge(edge), names[edge.out_id][1], own)
            for edge in self._reader.row_influences[step.logical_plan]
            if edge.out_id in names
        ]

    def _writes_any_holder(self, path: str, step: Step) -> bool:
        """Whether the step's plan writes this column or a struct around it."""
        return any(self._writes(holder, step) for holder in holders(path))

    def _writes(self, path: str, step: Step) -> bool:
        """Whether the step's plan writes exactly this column: its schema has it, or a derivation
        leads into it.
        """
        name, plan = (step.target, path), step.logical_plan
        return name in self._reader.outputs.get(plan, ()) or bool(
            self._derivations.get((plan, column_id(name)))
        )

    # --- the columns that they come from

    def _sources(self, flow: _Flow, step: Step) -> list[Cell]:
        dataset, path = self._reader.names[flow.edge.out_id]
        moments = [moment for called, moment in step.inputs if called == dataset]
        if flow.source == path:
            return [Cell(moment, path) for moment in moments]
        return [self._field_of_struct(moment, flow.source, path) for moment in moments]

    def _field_of_struct(self, moment: Moment, field: str, struct: str) -> Cell:
        """A field of a read struct, and the column that stands for it: the innermost known one."""
        for known in holders(field):
            if known == struct or self._reader.known_fields.get((moment.dataset, known), False):
                break
        return Cell(moment, field, "" if known == field else known)

    def _learn_known_fields(self, pairs: Iterable[tuple[Cell, Step]]) -> None:
        """Read which fields of copied structs are known."""
        names = self._reader.names
        self._reader.learn_known_fields(
            {
                (moment.dataset, holder)
                for cell, step in pairs
                if "." in cell.path
                for flow in self._flows(cell.path, step)
                if flow.source != names[flow.edge.out_id][1]
                for holder in holders(flow.source)[:-1]
                for called, moment in step.inputs
                if called == names[flow.edge.out_id][0]
            }
        )

    # --- the number of influences

    def count_influences(
        self,
        pairs: Collection[tuple[Cell, Step]],
        beside_reads: Callable[[Iterable[Cell]], Mapping[Cell, Iterable[Name]]],
    ) -> dict[Name, Influences]:
        """Per column the number of columns that influence it in these steps, with those
        ``beside_reads`` of them. Columns that the same steps write share one count.

        ``own``: the influences on a column itself, beside those on all rows of its steps.
        """
        pairs = self._current(pairs)
        self._learn_known_fields(pairs)
        writing: defaultdict[Name, set[Step]] = defaultdict(set)
        own: defaultdict[Name, set[_Influence]] = defaultdict(set)
        for cell, step in pairs:
            if self._writes_any_holder(cell.path, step):
                writing[cell.name].add(step)
            flows = self._flows(cell.path, step)
            indirect = (flow for flow in flows if flow.edge.value("kind") == labels.INDIRECT)
            own[cell.name] |= self._influences(indirect, step)
        on_rows = {
            step: self._influences_on_rows(step) for step in set[Step]().union(*writing.values())
        }
        read = {cell for some in (*own.values(), *on_rows.values()) for _, cell in some}
        beside = beside_reads(sorted(read))
        counts: dict[tuple[frozenset[Step], frozenset[_Influence]], Influences] = {}
        found: dict[Name, Influences] = {}
        for name, influences in own.items():
            key = frozenset(writing[name]), frozenset(influences)
            if key not in counts:
                counts[key] = _counts_of(
                    influences.union(*map(on_rows.__getitem__, key[0])), beside
                )
            found[name] = counts[key]
        return found

    def _influences_on_rows(self, step: Step) -> set[_Influence]:
        return self._influences(self._flows_into_rows(step, own=False), step)

    def _influences(self, flows: Iterable[_Flow], step: Step) -> set[_Influence]:
        """The kinds and the columns of these influences."""
        return {
            (str(flow.edge.value("how")), source)
            for flow in flows
            for source in self._sources(flow, step)
        }


def _counts_of(
    influences: Iterable[_Influence], beside: Mapping[Cell, Iterable[Name]]
) -> Influences:
    """The number of influencing columns, by kind of influence and dataset, sorted."""
    columns = {
        (how, name) for how, cell in influences for name in (cell.name, *beside.get(cell, ()))
    }
    counts = Counter((how, dataset) for how, (dataset, _) in columns)
    return tuple(InfluenceCount(*key, counts[key]) for key in sorted(counts))


def _as_column_edge(influence: Edge) -> Edge:
    """``column -influences-> plan`` as the properties of an edge between columns."""
    values = dict(influence.properties)
    return influence._replace(
        properties=(
            ("expression", str(values.get("expression", ""))),
            ("how", str(values.get("how", ""))),
            ("kind", labels.INDIRECT),
            ("logical_plan", influence.in_id),
        ),
    )


_Item = TypeVar("_Item")


class SharedColumns:
    """The columns beside others at the time ``at`` (epoch ms, None: the end of time); of some at
    most CANDIDATE_LIMIT.
    """

    def __init__(self, evidence: WalkEvidence, at: int | None) -> None:
        self._evidence = evidence
        self._inventory = Inventory(evidence)
        self._at = at

    def tables_with(self, tables: Collection[str]) -> set[str]:
        """These tables, and the locations that share files with one of them."""
        return self._evidence.history.locations.with_shared(tables, self._at)

    def beside(self, columns: Set[Name]) -> set[Name]:
        """The columns of these paths in the locations that share files with their tables."""
        around = self._around({dataset for dataset, _ in columns})
        shared = sorted(column for column in columns if column[0] in around)
        return set(self._first((other, path) for one, path in shared for other in around[one]))

    def known(self, columns: Iterable[Name]) -> set[Name]:
        """Those of these columns, and of the structs around them, that a document names."""
        return self._inventory.known({one for column in columns for one in with_structs(column)})

    def reads(self, hops: Collection[Hop], of: Set[Name] | None = None) -> list[Hop]:
        """The same hops from the known columns beside their sources (None), or from those ``of``
        them: for the drawing, a walk goes on from the columns that were read.

            out#y <- in/orders_*.csv#amount  =>  out#y <- in/orders_1.csv#amount
        """
        found = self.beside_reads(dict.fromkeys(hop.source for hop in hops), of)
        return [_read_as(hop, name) for hop in hops for name in found.get(hop.source, ())]

    def beside_reads(
        self, read: Iterable[Cell], of: Set[Name] | None = None
    ) -> dict[Cell, list[Name]]:
        """Per column that was read those that it was read as: the known ones beside it (None), or
        those ``of`` them.
        """
        cells = list(read)
        around = self._around({cell.moment.dataset for cell in cells})
        offered = self._first(
            (cell, [(other, path) for path in _paths_of(cell)])
            for cell in cells
            for other in around.get(cell.moment.dataset, ())
            if self._evidence.history.visible_writes.reads(cell.moment, other)
        )
        if not offered:
            return {}
        counted = {one for _, names in offered for one in names}
        counted = self._inventory.known(counted) if of is None else counted & of
        found: defaultdict[Cell, list[Name]] = defaultdict(list)
        for cell, names in offered:
            found[cell] += islice(filter(counted.__contains__, names), 1)
        return found

    def writes(self, hops: Mapping[Cell, Collection[Hop]]) -> Iterator[Edge]:
        """The derivations of writes that were seen through another location, into the columns of
        the locations that were written.

            in/orders_*.csv#amount <- raw#amount  =>  in/orders_1.csv#amount <- raw#amount
        """
        for cell, some in hops.items():
            for hop in some:
                if hop.written not in ("", cell.moment.dataset):
                    yield moved(hop.edge, hop.source.name, (hop.written, cell.name[1]))

    def _first(self, found: Iterable[_Item]) -> list[_Item]:
        some = list(islice(found, CANDIDATE_LIMIT + 1))
        if len(some) > CANDIDATE_LIMIT:
            self._evidence.bounds.cut("nodes", CANDIDATE_LIMIT)
        return some[:CANDIDATE_LIMIT]

    def _around(self, tables: Collection[str]) -> Mapping[str, Collection[str]]:
        found = self._evidence.history.locations.around_at(tables, self._at)
        return {table: others for table, others in found.items() if others}


def _paths_of(read: Cell) -> list[str]:
    """The path of a column that was read, and those of the structs around it, out to the one that
    stands for it.
    """
    paths = holders(read.path)
    return paths[: paths.index(read.name[1]) + 1]


def _read_as(hop: Hop, column: Name) -> Hop:
    """The hop from a column of another location, which its source was read as."""
    dataset, known = column
    path, read = hop.source.path, hop.source.moment
    source = Cell(Moment(dataset, read.since, read.until), path, "" if known == path else known)
    return hop._replace(edge=from_column(hop.edge, column), source=source)
