"""Columns up and down, true in time: derivations of the executions that the table walk relates; the
columns inside the tables of an answer; one hop of a column, through locations that share files too.

A state is a column of a moment. A write of a struct writes its fields: an edge into ``customer``
also leads into ``customer.address.city``, in a walk in either direction, unless the edge names the
fields that its source flows into (``naming.columns``) and these are others. A field of a struct
that was copied comes from that field of the source; where no document names that field, the struct
around it stands for it in the answer, so every column of an answer is a known one.

What the walks of one question have found is kept up to the answer's limit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from graph_model import labels, naming
from graph_model.facts import Edge
from graph_model.lineage.chains import ShortChains, Trace, short_chains
from graph_model.lineage.column_reader import (
    Cell,
    DerivationReader,
    Derivations,
    Hop,
    Inventory,
    Name,
    WrittenColumn,
    cell_at,
    column_id,
    from_column,
    holders,
    is_derived,
    is_followed,
    moved,
    node_of,
    structs_around,
    way_of,
    with_structs,
    written_column,
)
from graph_model.lineage.history import Moment
from graph_model.lineage.history.history import end_of, moment_of
from graph_model.lineage.open_columns import OpenColumns
from graph_model.lineage.questions import (
    CANDIDATE_LIMIT,
    TEXT_LIMIT,
    Bounds,
    ColumnEdge,
    ColumnNode,
    InfluenceCount,
    Influences,
    LeftOut,
    Question,
    Reach,
    WalkEvidence,
    count_left_out,
)
from graph_model.lineage.walk import WALKS, Step, Walk, read_sources

# The hops of a step of the table walk into a column: the derivations and influences of its plan.
#
# An edge into a struct leads into the fields of the struct as well, and a copied field comes from
# the same field of the source. Columns of one path meet in locations that share files, and a read
# of one is a read of the other:
#
#     in/orders_1.csv#amount  ~  in/orders_*.csv#amount  ~  in#amount
#
# Which locations share files is asked as in the walk over tables; their columns meet by their
# folded paths. A column counts under the name of a location where a document names it there; on the
# way to a reader that names no columns it counts without.

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
        self,
        reader: DerivationReader,
        derivations: Derivations,
        opens: OpenColumns,
        *,
        indirect: bool,
    ) -> None:
        self._reader = reader
        self._opens = opens
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
        flows = [
            flow
            for flow in self._flows(cell.path, step)
            if is_followed(flow.edge, indirect=self._indirect)
        ]
        if self._indirect and self._influences_of(step):
            own = self._writes(cell.path, step)
            if own or self._writes_any_holder(cell.path, step):
                flows += self._flows_into_rows(step, own=own)
        return [
            Hop(moved(flow.edge, source.name, cell.name), source, step.job, flow.own, step.target)
            for flow in flows
            for source in self._sources(flow, step)
        ]

    def into_reader(
        self, step: Step, paths: Mapping[str, Iterable[str]], *, exact: bool
    ) -> Iterator[Hop]:
        """The hops of a step of a reader from these columns (per dataset) of the tables that it
        read: what it does with the column where that is known, else it may read the column, unless
        all that it reads is known (``exact``).
        """
        names = self._reader.names
        known: defaultdict[Name, list[Edge]] = defaultdict(list)
        fields: defaultdict[Name, list[Edge]] = defaultdict(list)  # of a struct
        for influence in self._reader.row_influences.get(step.logical_plan, ()):
            edge = _as_column_edge(influence)
            if edge.out_id in names and is_followed(edge, indirect=self._indirect):
                known[names[edge.out_id]].append(edge)
                for struct in with_structs(names[edge.out_id])[1:]:
                    fields[struct].append(edge)
        rest = () if exact else (_UNNAMED,)
        for called, moment in step.inputs:
            for path in paths.get(moment.dataset, ()):
                column = called, path
                used = [edge for holder in with_structs(column) for edge in known.get(holder, ())]
                for edge in used or fields.get(column) or rest:
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
                for edge in edges:
                    if edge.out_id in names:
                        yield _Flow(edge, names[edge.out_id][1], own=True)
            elif edges:
                sources = self._sources_by_field(written).of(path[len(holder) + 1 :])
                flows = {
                    (edge.id, source): _Flow(edge, source, own=False) for edge, source in sources
                }
                yield from flows.values()
            below = path[len(holder) :]
            for edge, source in self._opens.into(step, holder):
                field = source + below if edge.value("fields") else source
                yield _Flow(edge, field, own=not below)

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
            for edge in self._influences_of(step)
            if edge.out_id in names
        ]

    def _influences_of(self, step: Step) -> list[Edge]:
        known = self._reader.row_influences[step.logical_plan]
        return [*known, *self._opens.influences(step)]

    def _writes_any_holder(self, path: str, step: Step) -> bool:
        """Whether the step's plan writes this column or a struct around it."""
        return any(self._writes(holder, step) for holder in holders(path))

    def _writes(self, path: str, step: Step) -> bool:
        """Whether the step's plan writes exactly this column: its schema has it, or a derivation
        leads into it.
        """
        name, plan = (step.target, path), step.logical_plan
        return (
            name in self._reader.outputs.get(plan, ())
            or bool(self._derivations.get((plan, column_id(name))))
            or path in self._opens.targets(step)
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
        by_column: dict[Name, Influences] = {}
        for name, influences in own.items():
            key = frozenset(writing[name]), frozenset(influences)
            if key not in counts:
                counts[key] = _counts_of(
                    influences.union(*map(on_rows.__getitem__, key[0])), beside
                )
            by_column[name] = counts[key]
        return by_column

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
    how = str(values.get("how", ""))
    return influence._replace(
        properties=(
            ("expression", str(values.get("expression", ""))),
            ("how", how),
            ("kind", labels.kind_of(how)),
            ("logical_plan", influence.in_id),
            *((("joined", True),) if values.get("joined") else ()),
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
        return set(
            self._first((other, path) for dataset, path in shared for other in around[dataset])
        )

    def known(self, columns: Iterable[Name]) -> set[Name]:
        """Those of these columns, and of the structs around them, that a document names."""
        return self._inventory.known(
            {holder for column in columns for holder in with_structs(column)}
        )

    def reads(self, hops: Collection[Hop], of: Set[Name] | None = None) -> list[Hop]:
        """The same hops from the known columns beside their sources (None), or from those ``of``
        them: for the drawing, a walk goes on from the columns that were read.

            out#y <- in/orders_*.csv#amount  =>  out#y <- in/orders_1.csv#amount
        """
        read_as = self.beside_reads(dict.fromkeys(hop.source for hop in hops), of)
        return [_read_as(hop, name) for hop in hops for name in read_as.get(hop.source, ())]

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
        counted = {name for _, names in offered for name in names}
        counted = self._inventory.known(counted) if of is None else counted & of
        read_as: defaultdict[Cell, list[Name]] = defaultdict(list)
        for cell, names in offered:
            read_as[cell] += islice(filter(counted.__contains__, names), 1)
        return read_as

    def writes(self, hops: Mapping[Cell, Collection[Hop]]) -> Iterator[Edge]:
        """The derivations of writes that were seen through another location, into the columns of
        the locations that were written.

            in/orders_*.csv#amount <- raw#amount  =>  in/orders_1.csv#amount <- raw#amount
        """
        for cell, some in hops.items():
            for hop in some:
                if hop.written not in ("", cell.moment.dataset):
                    yield moved(hop.edge, hop.source.name, (hop.written, cell.name[1]))

    def _first(self, items: Iterable[_Item]) -> list[_Item]:
        some = list(islice(items, CANDIDATE_LIMIT + 1))
        if len(some) > CANDIDATE_LIMIT:
            self._evidence.bounds.cut("nodes", CANDIDATE_LIMIT)
        return some[:CANDIDATE_LIMIT]

    def _around(self, tables: Collection[str]) -> Mapping[str, Collection[str]]:
        around = self._evidence.history.locations.around_at(tables, self._at)
        return {table: others for table, others in around.items() if others}


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


# --------------------------------------------------------------------------------------------------


class _Candidates(NamedTuple):
    """Columns downstream at any time, with the logical plans between and their derivations."""

    columns: set[Name]
    plans: set[str]
    derivations: Derivations


class ColumnWalks:
    """The column walks of one question.

    ``indirect``: a walk follows influences as well.
    """

    def __init__(self, evidence: WalkEvidence, *, indirect: bool) -> None:
        self._evidence = evidence
        self._inventory = Inventory(evidence)
        self._indirect = indirect
        self._reader = DerivationReader(evidence)
        self._opens = OpenColumns(evidence, self._reader)
        self._hops = StepHops(
            self._reader, self._reader.derivations, self._opens, indirect=indirect
        )
        self._known_candidates: dict[tuple[frozenset[Name], int], _Candidates] = {}
        self._known_readers: dict[frozenset[str], frozenset[str]] = {}  # by tables

    def located(self, columns: Collection[str], at: int | None) -> set[Name]:
        """These columns (ids) at the locations of their tables at the time; unknown ones are left
        out.
        """
        names = self._reader.learn_names(columns).values()
        until = end_of(at) - 1
        places = self._evidence.history.names.locate((dataset, until) for dataset, _ in names)
        return {(places[dataset, until], path) for dataset, path in names}

    def into(self, column: str, at: int | None) -> list[Hop]:
        """The derivations into a column (an id) at a time, one step back."""
        walk = self._walk(end_of(at))
        cells = [cell_at(name, at) for name in self.located((column,), at)]
        return [hop for hops in self._expand(walk, cells).values() for hop in hops]

    def upstream(
        self,
        start: Collection[Name],
        question: Question,
        findings: ColumnFindings,
        optional: Collection[Name] = (),
    ) -> None:
        """Find the sources of columns, and the columns among ``optional`` that have a source."""
        walk = self._walk(end_of(question.at), reach=question.reach)
        shared = self._shared(question)
        frontier = {cell_at(name, question.at) for name in {*start, *optional}}
        visited = set(frontier)
        for level in range(question.depth):
            if not frontier or self._evidence.bounds.over():
                break
            hops = self._expand(walk, frontier)
            if level == 0:
                hops = _of_known_columns(hops, start)
                findings.admit_asked(cell.name for cell in hops)
            read = [hop for some in hops.values() for hop in some]
            drawn = findings.admit_sources([*read, *shared.reads(read)], level + 1)
            findings.add_edges_inside(shared.writes(hops))
            frontier = {hop.source for hop in read if hop.source in drawn} - visited
            visited |= frontier
        findings.folded |= walk.folded or self._opens.folded

    def downstream(
        self,
        start: Collection[Name],
        question: Question,
        findings: ColumnFindings,
        optional: Collection[Name] = (),
    ) -> None:
        """Find the results of columns, and of those among ``optional`` that have a result: the
        mirror of ``upstream``, by the same relation among the candidates.
        """
        start = {*start, *optional}
        shared = self._shared(question)
        candidates = self._candidates_of(start, question)
        reading = self._readers(start, candidates, question) if question.depth else frozenset()
        walk = self._walk(end_of(question.at), candidates.plans | reading, question.reach)
        among_candidates = StepHops(
            self._reader, candidates.derivations, self._opens, indirect=self._indirect
        )
        beside = shared.beside(candidates.columns) if reading else set()
        read_columns = {*start, *candidates.columns, *beside, *shared.beside(start)}
        hops = self._hops_to_readers(walk, reading, read_columns, question.at)
        read = {hop.source for some in hops.values() for hop in some}
        columns = {cell_at(name, question.at) for name in candidates.columns}
        roots = columns | hops.keys()
        between = candidates.columns | beside
        frontier = columns | {cell for cell in read if cell.name in between}
        for _ in range(question.depth):
            if not frontier or self._evidence.bounds.over():
                break
            hops |= self._expand(walk, frontier, among_candidates)
            reached = {hop.source for cell in frontier for hop in hops[cell]}
            frontier = {c for c in reached.difference(hops) if c.name in candidates.columns}
        if shared.beside(start):
            hops = {cell: [*some, *shared.reads(some, start)] for cell, some in hops.items()}
        _draw(start, question, findings, hops, roots)
        findings.folded |= walk.folded or self._opens.folded

    def _shared(self, question: Question) -> SharedColumns:
        return SharedColumns(self._evidence, question.at)

    # --- one level up

    def _walk(
        self, until: int, plans: Collection[str] | None = None, reach: Reach = Reach.SEEN
    ) -> Walk:
        followed = None if plans is None else dict.fromkeys(plans)
        return WALKS[reach](self._evidence, until, followed, columns=True)

    def _expand(
        self, walk: Walk, cells: Collection[Cell], among_candidates: StepHops | None = None
    ) -> dict[Cell, list[Hop]]:
        """Per cell the hops into it: all of them, or only those among the candidates."""
        steps = walk.expand({cell.moment for cell in cells})
        self._opens.learn((step for some in steps.values() for step in some), walk.until)
        pairs = [(cell, step) for cell in cells for step in steps[cell.moment]]
        if among_candidates is None:
            self._reader.learn_derivations_into(pairs)
        if self._indirect:
            self._reader.learn_influences({s.logical_plan for some in steps.values() for s in some})
        by_cell: dict[Cell, list[Hop]] = {cell: [] for cell in cells}
        for cell, hops in (among_candidates or self._hops).into(pairs):
            by_cell[cell] += hops
        return by_cell

    # --- candidates

    def _candidates_of(self, start: Set[Name], question: Question) -> _Candidates:
        key = frozenset(start), question.depth
        if key not in self._known_candidates:
            self._known_candidates[key] = self._candidates(start, question)
        return self._known_candidates[key]

    def _candidates(self, start: Set[Name], question: Question) -> _Candidates:
        shared = self._shared(question)
        columns, plans = set[Name](), set[str]()
        frontier = {*start, *shared.beside(start)}
        visited = set(frontier)
        derivations: defaultdict[WrittenColumn, list[Edge]] = defaultdict(list)
        for _ in range(question.depth):
            if not frontier or self._evidence.bounds.over():
                break
            ids = self._reader.note_every_name(frontier)
            edges, supplies = self._derivations_out_of(frontier, ids)
            for edge in edges:
                written = written_column(edge)
                derivations[written].append(edge)
                plans.add(written[0])
            targets = set(self._reader.learn_names({edge.in_id for edge in edges}).values())
            if supplies:
                self._opens.asked_before(end_of(question.at))
                plans |= {supplied.in_id for supplied in supplies}
                named = [self._reader.names[column] for column in ids]
                targets |= self._opens.fed_by(supplies, named)
            if self._indirect:
                influenced = self._reader.learn_influenced_plans(ids)
                influenced |= {edge.in_id for edge in supplies if not edge.value("target")}
                plans |= influenced
                targets |= {
                    name for plan in influenced for name in self._reader.outputs.get(plan, ())
                }
                self._opens.asked_before(end_of(question.at))
                targets |= self._opens.possible_outputs(influenced)
            located = self._inventory.ever_located_with_fields(targets)
            beside = shared.beside(located)
            frontier = (located | beside) - visited
            visited |= frontier
            columns |= located | (shared.known(beside) if beside else set())
            if len(columns) > CANDIDATE_LIMIT:
                self._evidence.bounds.cut("nodes", CANDIDATE_LIMIT)
        by_column = {column: tuple(into) for column, into in derivations.items()}
        return _Candidates(columns, plans, by_column)

    def _derivations_out_of(
        self, columns: Collection[Name], ids: Set[str]
    ) -> tuple[list[Edge], list[Edge]]:
        """The followed derivations out of these columns, and out of the structs around them, and
        the followed edges ``supplies``; the ``ids`` are those of the columns under every name.
        """
        structs = self._reader.note_every_name(structs_around(columns)) - ids
        derived, supplies = self._reader.derivations_out_of(ids, structs)
        return (
            [edge for edge in derived if is_followed(edge, indirect=self._indirect)],
            [edge for edge in supplies if is_followed(edge, indirect=self._indirect)],
        )

    # --- readers of tables

    def _readers(
        self, start: Set[Name], candidates: _Candidates, question: Question
    ) -> frozenset[str]:
        """The logical plans that ever read a table of these columns and only read, or may read any
        of them.
        """
        if not question.readers:
            return frozenset()
        tables = {dataset for dataset, _ in start | candidates.columns}
        datasets = frozenset(self._shared(question).tables_with(tables))
        if datasets not in self._known_readers:
            plans = self._reader.readers_of(datasets).keys()
            self._known_readers[datasets] = frozenset(
                self._reader.without_columns(plans, candidates.plans)
            )
        return self._known_readers[datasets]

    def _hops_to_readers(
        self, walk: Walk, reading: Set[str], columns: Set[Name], at: int | None
    ) -> dict[Cell, list[Hop]]:
        """Per reader, a cell without a path, the hops from these columns of the tables that it
        read; at most CANDIDATE_LIMIT.
        """
        if not reading:
            return {}
        self._reader.learn_influences(reading)
        exact = self._reader.exact_readers(reading)
        paths: defaultdict[str, list[str]] = defaultdict(list)
        for dataset, path in sorted(columns):
            paths[dataset].append(path)
        origins = read_sources(self._evidence, reading)
        by_reader: defaultdict[Cell, list[Hop]] = defaultdict(list)
        for moment, steps in walk.expand(self._ends_of(reading, at)).items():
            for step in steps:
                if step.logical_plan in reading:
                    rows = _without_metadata(step, origins.get(step.logical_plan, {}))
                    by_reader[Cell(moment, "")] += self._hops.into_reader(
                        rows, paths, exact=step.logical_plan in exact
                    )
            if sum(map(len, by_reader.values())) > CANDIDATE_LIMIT:
                self._evidence.bounds.cut("nodes", CANDIDATE_LIMIT)
                break
        return dict(by_reader)

    def _ends_of(self, plans: Collection[str], at: int | None) -> set[Moment]:
        """The ends of chains through these plans at the time: their tables, or they themselves."""
        rows = self._evidence.history.plans.rows(plans).values()
        places = self._evidence.history.names.locations_of(
            {row.target for row in rows if row.target}
        )
        ends = {place for row in rows for place in places.get(row.target, (row.id,))}
        return {moment_of(end, at) for end in ends}

    # --- inside the tables of an answer

    def inside(
        self,
        steps: Mapping[str, Collection[Step]],
        listed: Set[Name],
        walked: Iterable[Step],
        at: int | None,
    ) -> tuple[set[Name], list[Edge]]:
        """The columns of the drawn datasets, and the derivations between them by the steps into
        each dataset. The columns are those ``listed``, those that the steps derive, with the known
        fields of these, and the sources of these derivations. ``walked`` are the steps with the
        times of their reads.
        """
        walked = list(walked)
        self._opens.learn(walked, end_of(at))
        self._opens.note_merged(steps, walked)
        plans = {step.logical_plan for some in steps.values() for step in some}
        self._reader.learn_derivations_of(plans)
        if self._indirect:
            self._reader.learn_influences(plans)
        names, targets = set(listed), set[Name]()
        written = self._written_in(steps, plans)
        per_step = self._hops.into(written)
        for cell, hops in per_step:
            if is_derived(hops):
                targets.add(cell.name)
                names |= {hop.source.name for hop in hops}
        names |= targets | self._inventory.fields(targets - names)
        opened = {
            (dataset, path)
            for dataset, some in steps.items()
            for step in some
            for path in self._opens.targets(step)
        }
        # a location that shares files with another one may lack its columns
        names = {*listed, *opened, *self._inventory.known(names - listed - opened)}
        per_step = [(cell, hops) for cell, hops in per_step if cell.name in names]
        per_step += self._hops.into(set(_with_steps(names, steps)).difference(written))
        return names, [hop.edge for _, hops in per_step for hop in hops]

    def _written_in(
        self, steps: Mapping[str, Collection[Step]], plans: Collection[str]
    ) -> list[tuple[Cell, Step]]:
        """The columns that the steps into each dataset, by these plans, write there, each with its
        step.
        """
        written = self._reader.columns_written_by(plans)
        return [
            (cell_at((dataset, path), None), step)
            for dataset, some in steps.items()
            for step in some
            for path in {
                *(path for called, path in written[step.logical_plan] if called == step.target),
                *self._opens.targets(step),
            }
        ]

    def opened(self, tables: Collection[str], at: int | None) -> set[Name]:
        """The columns of tables without a schema that the texts of their writes leave open."""
        if not tables:
            return set()
        moments = {moment_of(table, at) for table in tables}
        return self._opens.columns_of(moments, end_of(at))

    # --- the number of influences on columns

    def influences_on(
        self, names: Collection[Name], moments: Collection[Moment], at: int | None
    ) -> dict[str, Influences]:
        """Per column (id) the number of columns that influence it, one step up from these moments.

        For each ``how`` and dataset it equals the number of edges that a walk with ``indirect``
        would draw.
        """
        walk = self._walk(end_of(at))
        steps: defaultdict[str, set[Step]] = defaultdict(set)
        for moment, some in walk.expand(moments).items():
            steps[moment.dataset].update(some)
        self._opens.learn((step for some in steps.values() for step in some), walk.until)
        pairs = _with_steps(names, steps)
        self._reader.learn_derivations_into(pairs)
        self._reader.learn_influences({step.logical_plan for _, step in pairs})
        shared = SharedColumns(self._evidence, at)
        counts = self._hops.count_influences(pairs, shared.beside_reads)
        return {column_id(name): influences for name, influences in counts.items()}


def _with_steps(
    columns: Iterable[Name], steps: Mapping[str, Collection[Step]]
) -> list[tuple[Cell, Step]]:
    """Each column, at the end of all times, with each of the steps into its dataset."""
    return [
        (cell_at(column, None), step) for column in columns for step in steps.get(column[0], ())
    ]


def _of_known_columns(
    hops: Mapping[Cell, list[Hop]], known: Collection[Name]
) -> dict[Cell, list[Hop]]:
    """The hops into the known columns and their fields; a column that is derived is known, too."""
    columns = {*known, *(cell.name for cell, some in hops.items() if is_derived(some))}
    return {
        cell: some for cell, some in hops.items() if not columns.isdisjoint(with_structs(cell.name))
    }


def _draw(
    start: Set[Name],
    question: Question,
    findings: ColumnFindings,
    hops: Mapping[Cell, Sequence[Hop]],
    roots: Collection[Cell],
) -> None:
    """Admit every chain of at most ``depth`` steps from a root to the start."""
    chains = _chains_to(start, question, hops, roots)
    drawn = [
        (cell, hop)
        for cell in chains.levels.keys() & hops.keys()
        for hop in hops[cell]
        if chains.hold(cell, hop.source)
    ]
    trace = findings.traces[question.reach] = _trace_of(chains, hops)
    if question.chains:
        for _, hop in drawn:
            trace.note_job(way_of(hop))
    results: defaultdict[int, set[Name]] = defaultdict(set)
    derived = [(cell, hop) for cell, hop in drawn if cell.path]  # others end at a reader
    for cell, hop in derived:
        results[chains.away[hop.source] + 1].add(cell.name)
        findings.moments |= {cell.moment, hop.source.moment}
        findings.edges[hop.edge.id] = hop.edge
    findings.admit_asked({hop.source.name for _, hop in drawn} & start)
    findings.admit_results(results)
    findings.answers |= {column_id(root.name) for root in chains.roots} & findings.nodes.keys()


def _chains_to(
    start: Set[Name],
    question: Question,
    hops: Mapping[Cell, Iterable[Hop]],
    roots: Collection[Cell],
) -> ShortChains[Cell]:
    nexts = {cell: {hop.source for hop in some} for cell, some in hops.items()}
    goals = {c: 0 for sources in nexts.values() for c in sources if c.name in start}
    return short_chains(nexts, roots, goals, question.depth)


def _trace_of(chains: ShortChains[Cell], hops: Mapping[Cell, Iterable[Hop]]) -> Trace[Cell]:
    return Trace(
        chains.away,
        chains.roots,
        lambda cell: map(way_of, hops[cell]),
        lambda cell: column_id(cell.name),
    )


def _without_metadata(step: Step, origins: Mapping[str, str]) -> Step:
    """A step without the tables of which it reads the metadata alone (``origins``: of its plan)."""
    inputs = (table for table in step.inputs if origins.get(table[0]) != labels.METADATA)
    return step._replace(inputs=tuple(inputs))


@dataclass(slots=True)
class ColumnFindings:
    """The results of the walks of one question so far.

    ``hidden`` are datasets (ids): the walk goes through their columns, and they take no place of
    visible ones.
    """

    limit: int
    bounds: Bounds
    nodes: dict[str, ColumnNode] = field(default_factory=dict)
    datasets: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    edges: dict[str, Edge] = field(default_factory=dict)
    reached: int = 0
    folded: bool = False
    moments: set[Moment] = field(default_factory=set)  # at which the walk read the tables
    traces: dict[Reach, Trace[Cell]] = field(default_factory=dict)  # of the walks downstream
    seen: frozenset[str] | None = None  # the edges (ids) that reads have seen; None: all
    hidden: Collection[str] = ()
    hidden_columns: set[str] = field(default_factory=set)  # found in hidden datasets
    full: bool = False  # a column was left out

    def admit(self, names: Iterable[Name]) -> bool:
        """Admit columns, each with its table, up to the limit; whether any visible one was new.

        Hidden columns take no place of visible ones: they have a limit of their own, and are
        admitted while there is room for visible ones.
        """
        new = sorted(node for node in map(node_of, set(names)) if node.id not in self.nodes)
        hidden = [node for node in new if node.dataset in self.hidden]
        self.hidden_columns |= {node.id for node in hidden}
        admitted = self._admit(
            [node for node in new if node.id not in self.hidden_columns], hidden=False
        )
        if hidden and not self.full:
            self._admit(hidden, hidden=True)
        return admitted

    def _admit(self, new: Iterable[ColumnNode], *, hidden: bool) -> bool:
        """``new`` are all hidden, or all visible, in the order of their ids."""
        tables = {dataset for dataset in self.datasets if (dataset in self.hidden) == hidden}
        known = self.nodes.keys()
        before = taken = len(known & self.hidden_columns if hidden else known - self.hidden_columns)
        for node in new:
            tables.add(node.dataset)
            if taken + 1 + len(tables) > max(self.limit, 2):
                self.bounds.cut("nodes", self.limit)
                self.full = True
                break
            self.nodes[node.id] = node
            self.datasets.add(node.dataset)
            taken += 1
        return taken > before

    def admit_asked(self, names: Iterable[Name]) -> None:
        """Admit the requested columns."""
        asked = set(names)
        self.admit(asked)
        self.answers |= {column_id(name) for name in asked} & self.nodes.keys()

    def admit_sources(self, hops: Collection[Hop], depth: int) -> set[Cell]:
        """Admit the sources of the hops of a level, up to the limit; those that are drawn."""
        reached = {hop.source for hop in hops}
        names = {cell.name for cell in reached}
        self.moments |= {cell.moment for cell in reached}
        if self.admit(names):
            self.reached = max(self.reached, depth)
        self.edges |= {hop.edge.id: hop.edge for hop in hops}
        self.answers |= {column_id(name) for name in names} & self.nodes.keys()
        return {cell for cell in reached if column_id(cell.name) in self.nodes}

    def add_edges_inside(self, edges: Iterable[Edge]) -> None:
        """Add those of these edges that are between drawn columns."""
        drawn = self.nodes.keys()
        self.edges |= {edge.id: edge for edge in edges if {edge.out_id, edge.in_id} <= drawn}

    def admit_results(self, by_depth: Mapping[int, Iterable[Name]]) -> None:
        """Admit columns downstream, by their least number of steps from the start."""
        for depth in sorted(by_depth):
            if self.admit(by_depth[depth]):
                self.reached = max(self.reached, depth)

    def left_out(self) -> tuple[LeftOut, ...]:
        """How many of the found derivations are not drawn, per drawn column."""
        steps = ((edge.out_id, edge.in_id) for edge in self.edges.values())
        return count_left_out(steps, self.nodes.keys(), self.hidden_columns)

    def drawn(self, hidden_plans: Collection[str] = ()) -> list[ColumnEdge]:
        """The drawn edges between columns, folded (``fold_column_edges``)."""
        edges = [e for e in self.edges.values() if {e.out_id, e.in_id} <= self.nodes.keys()]
        if sum(len(str(edge.value("expression") or "")) for edge in edges) > TEXT_LIMIT:
            self.bounds.cut("bytes", TEXT_LIMIT)
            edges = [_without_expression(edge) for edge in edges]
        return fold_column_edges(edges, hidden_plans, self.seen)


def _without_expression(edge: Edge) -> Edge:
    return edge._replace(
        properties=tuple((key, "" if key == "expression" else v) for key, v in edge.properties)
    )


def fold_column_edges(
    edges: Iterable[Edge],
    hidden_plans: Collection[str] = (),
    seen: Collection[str] | None = None,
) -> list[ColumnEdge]:
    """One edge per (from, to, kind, how); expressions joined in sorted order. Hidden logical plans
    (ids) are behind an edge only where no other plan is. A value is masked where every plan that
    counts masks it. ``seen`` are the edges (ids) that reads have seen, None all of them.
    """
    texts: dict[tuple[str, str, str, str], dict[str, set[str]]] = {}  # by plan
    unmasked: dict[tuple[str, str, str, str], set[str]] = {}
    were_seen = set[tuple[str, str, str, str]]()
    documented = set[tuple[str, str, str, str]]()
    for edge in edges:
        values = dict(edge.properties)
        key = (edge.out_id, edge.in_id, str(values["kind"]), str(values["how"]))
        of_plan = texts.setdefault(key, {}).setdefault(str(values["logical_plan"]), set())
        of_plan.add(str(values.get("expression", "")))
        if values.get("masking") is not True:
            unmasked.setdefault(key, set()).add(str(values["logical_plan"]))
        if seen is None or edge.id in seen:
            were_seen.add(key)
        if values.get("joined") is not True:
            documented.add(key)
    return [
        _fold(
            key,
            texts[key],
            hidden_plans,
            unmasked.get(key, ()),
            seen=key in were_seen,
            joined=key not in documented,
        )
        for key in sorted(texts)
    ]


def _fold(
    key: tuple[str, str, str, str],
    texts: Mapping[str, set[str]],
    hidden_plans: Collection[str],
    unmasked: Collection[str],
    *,
    seen: bool,
    joined: bool,
) -> ColumnEdge:
    plans = sorted(texts.keys() - set(hidden_plans)) or sorted(texts)
    expressions = {text for plan in plans for text in texts[plan] if text}
    text = labels.BETWEEN_EXPRESSIONS.join(sorted(expressions))
    masking = set(unmasked).isdisjoint(plans)
    return ColumnEdge(*key, text, tuple(plans), masking=masking, seen=seen, joined=joined)
