"""Columns up and down, true in time: derivations of the executions that the table walk relates.

A state is a column of a moment. A write of a struct writes its fields: an edge into ``customer``
also leads into ``customer.address.city``, in a walk in either direction, unless the edge names the
fields that its source flows into (``naming.fields``) and these are others. A field of a struct that
was copied comes from that field of the source; where no document names that field, the struct
around it stands for it in the answer, so every column of an answer is a known one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from graph_model import identity, labels, naming
from graph_model.facts import Edge
from graph_model.lineage.bounds import (
    CANDIDATE_LIMIT,
    HUB_LIMIT,
    TEXT_LIMIT,
    Bounds,
    count_left_out,
)
from graph_model.lineage.chains import short_chains
from graph_model.lineage.history import Moment
from graph_model.lineage.history.history import History
from graph_model.lineage.history.visible_write_reader import end_of, moment_of
from graph_model.lineage.inventory import Inventory, Name, holders
from graph_model.lineage.questions import (
    ColumnEdge,
    ColumnNode,
    InfluenceCount,
    Influences,
    LeftOut,
    Question,
)
from graph_model.lineage.structure import Structure
from graph_model.lineage.traces import Trace, Way
from graph_model.lineage.walk import Step, Walk
from graph_model.stores.protocols import Direction, EdgePage, GraphReader

_Write = tuple[str, str]
"""(logical plan, id of a column that it writes)."""
_Derivations = dict[_Write, tuple[Edge, ...]]
"""Per written column the derivations into it; none where nothing derives it."""
_Influence = tuple[str, Name]
"""(how, column) of a column that influences another."""


class Cell(NamedTuple):
    """A column of a dataset at a moment.

    ``known``: the path of the known column that stands for it in an answer; "" for its own.
    """

    moment: Moment
    path: str
    known: str = ""

    @property
    def name(self) -> Name:
        return self.moment.dataset, self.known or self.path


class _Flow(NamedTuple):
    """A derivation into a column, or into a struct that contains it (not ``own``), and the path of
    the column that it comes from.
    """

    edge: Edge
    source: str
    own: bool


class Hop(NamedTuple):
    """A derivation by a job, between columns at their locations, and its source column.

    ``own``: the derivation leads into the column itself, not into a struct that contains it.
    """

    edge: Edge
    source: Cell
    job: str
    own: bool = True


@dataclass(slots=True)
class FoundColumns:
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
    trace: Trace[Cell] | None = None  # of the walk downstream
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

    def left_out(self) -> tuple[LeftOut, ...]:
        """How many of the found derivations are not drawn, per drawn column."""
        steps = ((edge.out_id, edge.in_id) for edge in self.edges.values())
        return count_left_out(steps, self.nodes.keys(), self.hidden_columns)

    def drawn(self, hidden_plans: Collection[str] = ()) -> list[ColumnEdge]:
        """The drawn edges between columns, folded (``fold_column_edges``)."""
        found = [e for e in self.edges.values() if {e.out_id, e.in_id} <= self.nodes.keys()]
        if sum(len(str(edge.value("expression") or "")) for edge in found) > TEXT_LIMIT:
            self.bounds.cut("bytes", TEXT_LIMIT)
            found = [edge._replace(properties=_without_text(edge)) for edge in found]
        return fold_column_edges(found, hidden_plans)


def _without_text(edge: Edge) -> tuple[tuple[str, str | int | float | bool], ...]:
    return tuple((key, "" if key == "expression" else v) for key, v in edge.properties)


class ColumnWalks:
    """The column walks of one question, over one graph and one history."""

    def __init__(
        self,
        graph: GraphReader,
        history: History,
        bounds: Bounds,
        structure: Structure,
        inventory: Inventory,
        *,
        indirect: bool,
    ) -> None:
        self._graph = graph
        self._history = history
        self._bounds = bounds
        self._structure = structure
        self._inventory = inventory
        self._indirect = indirect
        self._names: dict[str, Name] = {}  # column id -> its name
        self._known_fields: dict[Name, bool] = {}  # whether a document names the field
        self._struct_fields: dict[_Write, tuple[tuple[Edge, ...], naming.FieldSources[Edge]]] = {}
        self._derivations: _Derivations = {}
        self._row_influences: dict[str, list[Edge]] = {}  # logical plan -> the influences on it
        self._outputs: dict[str, frozenset[Name]] = {}  # logical plan -> columns it writes

    def upstream(
        self,
        start: Collection[Name],
        question: Question,
        found: FoundColumns,
        optional: Collection[Name] = (),
    ) -> None:
        """Find the sources of columns, and the columns among ``optional`` that have a source."""
        walk = self._walk(end_of(question.at))
        asked = {*start, *optional}
        frontier = {Cell(moment_of(dataset, question.at), path) for dataset, path in asked}
        visited = set(frontier)
        for level in range(question.depth):
            if not frontier or self._bounds.over():
                break
            hops = self._expand(walk, frontier)
            if level == 0:
                known = {*start, *(cell.name for cell, some in hops.items() if _is_derived(some))}
                hops = {
                    c: some for c, some in hops.items() if known.intersection(_with_structs(c.name))
                }
                found.admit_asked(cell.name for cell in hops)
            reached = {hop.source for some in hops.values() for hop in some}
            found.moments |= {cell.moment for cell in reached}
            names = {cell.name for cell in reached}
            if found.admit(names):
                found.reached = max(found.reached, level + 1)
            found.edges |= {hop.edge.id: hop.edge for some in hops.values() for hop in some}
            ids = {column_id(name) for name in names} & found.nodes.keys()
            found.answers |= ids
            frontier = {c for c in reached - visited if column_id(c.name) in found.nodes}
            visited |= frontier
        found.folded |= walk.folded

    def downstream(
        self,
        start: Collection[Name],
        question: Question,
        found: FoundColumns,
        optional: Collection[Name] = (),
    ) -> None:
        """Find the results of columns, and of those among ``optional`` that have a result: the
        mirror of ``upstream``, by the same relation among the candidates.
        """
        start = {*start, *optional}
        candidates, plans, derivations = self._candidates(start, question)
        walk = self._walk(end_of(question.at), plans)
        roots = {Cell(moment_of(dataset, question.at), path) for dataset, path in candidates}
        hops: dict[Cell, list[Hop]] = {}
        frontier = set(roots)
        for _ in range(question.depth):
            if not frontier or self._bounds.over():
                break
            hops |= self._expand(walk, frontier, derivations)
            reached = {hop.source for cell in frontier for hop in hops[cell]}
            frontier = {c for c in reached - hops.keys() if c.name in candidates}
        self._draw(start, question, found, hops, roots)
        found.folded |= walk.folded

    def _draw(
        self,
        start: Collection[Name],
        question: Question,
        found: FoundColumns,
        hops: Mapping[Cell, list[Hop]],
        roots: Collection[Cell],
    ) -> None:
        """Admit every chain of at most ``depth`` steps from a root to the start."""
        nexts = {cell: {hop.source for hop in some} for cell, some in hops.items()}
        asked = set(start)
        goals = {c: 0 for sources in nexts.values() for c in sources if c.name in asked}
        chains = short_chains(nexts, roots, goals, question.depth)
        trace = Trace(
            chains.away,
            chains.roots,
            lambda cell: map(_way, hops[cell]),
            lambda cell: column_id(cell.name),
        )
        nodes: dict[int, set[Name]] = {}
        sources: set[Name] = set()
        for cell in chains.levels.keys() & hops.keys():
            for hop in hops[cell]:
                if chains.hold(cell, hop.source):
                    nodes.setdefault(chains.away[hop.source] + 1, set()).add(cell.name)
                    sources.add(hop.source.name)
                    found.moments |= {cell.moment, hop.source.moment}
                    found.edges[hop.edge.id] = hop.edge
                    if question.chains:
                        trace.note_job(_way(hop))
        found.trace = trace
        found.admit_asked(sources & asked)
        for length in sorted(nodes):
            if found.admit(nodes[length]):
                found.reached = max(found.reached, length)
        found.answers |= {column_id(root.name) for root in chains.roots} & found.nodes.keys()

    def into(self, column: str, at: int | None) -> list[Hop]:
        """The derivations into a column (an id) at a time, one step back."""
        walk = self._walk(end_of(at))
        until = end_of(at) - 1
        names = self.learn_names((column,)).values()
        places = self._history.names.locate((dataset, until) for dataset, _ in names)
        cells = [Cell(moment_of(places[dataset, until], at), path) for dataset, path in names]
        return [hop for hops in self._expand(walk, cells).values() for hop in hops]

    # --- inside the tables of an answer

    def inside(
        self, steps: Mapping[str, Collection[Step]], listed: Set[Name]
    ) -> tuple[set[Name], list[Edge]]:
        """The columns of the drawn datasets, and the derivations between them by the steps into
        each dataset. The columns are those ``listed``, those that the steps derive, with the known
        fields of these, and the sources of these derivations.
        """
        plans = {step.logical_plan for some in steps.values() for step in some}
        derivations = self._derivations_of(plans)
        self._derivations |= derivations
        if self._indirect:
            self._learn_influences(plans)
        written: dict[str, set[Name]] = {plan: set(self._outputs.get(plan, ())) for plan in plans}
        for (plan, column), edges in derivations.items():
            if edges:
                written[plan].add(self._names[column])
        into_written = [
            (Cell(moment_of(dataset, None), path), step)
            for dataset, some in steps.items()
            for step in some
            for called, path in written[step.logical_plan]
            if called == step.target
        ]
        names, targets = set(listed), set[Name]()
        for (cell, _), hops in self._hops_of(into_written, self._derivations):
            if _is_derived(hops):
                targets.add(cell.name)
                names |= {hop.source.name for hop in hops}
        names |= targets | self._inventory.fields(targets - names)
        into_all = [
            (Cell(moment_of(dataset, None), path), step)
            for dataset, path in names
            for step in steps.get(dataset, ())
        ]
        found = self._hops_of(into_all, self._derivations)
        return names, [hop.edge for _, hops in found for hop in hops]

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
        asked = [(name, step) for name in names for step in steps.get(name[0], ())]
        self._learn_derivations(
            {
                (step.logical_plan, column_id((step.target, holder)))
                for (_, path), step in asked
                for holder in holders(path)
            }
        )
        self._learn_influences({step.logical_plan for _, step in asked})
        self._learn_fields([(_now(name), step) for name, step in asked], self._derivations)
        return {column_id(name): found for name, found in self._count_influences(asked).items()}

    def _count_influences(self, asked: Iterable[tuple[Name, Step]]) -> dict[Name, Influences]:
        """Columns that the same steps write share one count.

        ``own``: the influences on a column itself, beside those on all rows of its steps.
        """
        writing: defaultdict[Name, set[Step]] = defaultdict(set)
        own: defaultdict[Name, set[_Influence]] = defaultdict(set)
        for name, step in asked:
            if self._is_written_within(name[1], step, self._derivations):
                writing[name].add(step)
            own[name] |= self._influences_in(
                (
                    flow
                    for flow in self._flows(name[1], step, self._derivations)
                    if flow.edge.value("kind") == labels.INDIRECT
                ),
                step,
            )
        counts: dict[tuple[frozenset[Step], frozenset[_Influence]], Influences] = {}
        found: dict[Name, Influences] = {}
        for name, influences in own.items():
            key = frozenset(writing[name]), frozenset(influences)
            if key not in counts:
                counts[key] = _counts_of(influences.union(*map(self._influences_on_rows, key[0])))
            found[name] = counts[key]
        return found

    def _influences_on_rows(self, step: Step) -> set[_Influence]:
        return self._influences_in(self._flows_on_rows(step, own=False), step)

    def _influences_in(self, flows: Iterable[_Flow], step: Step) -> set[_Influence]:
        """The kinds and the columns of these influences."""
        return {
            (str(flow.edge.value("how")), source.name)
            for flow in flows
            for source in self._sources(flow, step)
        }

    # --- one level up

    def _walk(self, until: int, plans: Collection[str] | None = None) -> Walk:
        followed = None if plans is None else dict.fromkeys(plans)
        return Walk(self._graph, self._history, self._bounds, until, followed, self._structure)

    def _expand(
        self, walk: Walk, cells: Collection[Cell], candidates: _Derivations | None = None
    ) -> dict[Cell, list[Hop]]:
        """Per cell the derivations into it: all of them, or only those of the candidates."""
        steps = walk.expand({cell.moment for cell in cells})
        if candidates is None:
            self._learn_derivations_into(cells, steps)
        derivations = self._derivations if candidates is None else candidates
        if self._indirect:
            self._learn_influences({s.logical_plan for some in steps.values() for s in some})
        found: dict[Cell, list[Hop]] = {cell: [] for cell in cells}
        pairs = [(cell, step) for cell in cells for step in steps[cell.moment]]
        for (cell, _), hops in self._hops_of(pairs, derivations):
            found[cell] += hops
        return found

    def _learn_derivations_into(
        self, cells: Iterable[Cell], steps: Mapping[Moment, tuple[Step, ...]]
    ) -> None:
        self._learn_derivations(
            {
                (step.logical_plan, column_id((step.target, holder)))
                for cell in cells
                for step in steps[cell.moment]
                for holder in holders(cell.path)
            }
        )

    def _learn_derivations(self, writes: Collection[_Write]) -> None:
        """Read the derivations behind these writes. Their plans must be complete, because the
        structure keeps the result.
        """
        new = set(writes) - self._derivations.keys()
        kept = self._structure.derivations.find(new)
        found = kept | self._read_derivations(new - kept.keys())
        self._derivations |= found
        self.learn_names({edge.out_id for edges in found.values() for edge in edges})

    def _read_derivations(self, writes: Collection[_Write]) -> _Derivations:
        found: dict[_Write, list[Edge]] = {write: [] for write in writes}
        page = self._edges_into({column for _, column in writes})
        for edge in page.edges:
            write = _write_of(edge)
            if write in found:
                found[write].append(edge)
        derived = {write: tuple(edges) for write, edges in found.items()}
        whole = {write: edges for write, edges in derived.items() if write[1] not in page.cut}
        self._structure.derivations.keep(whole)
        return derived

    def _edges_into(self, columns: Collection[str]) -> EdgePage:
        if not columns:
            return EdgePage(())
        page = self._graph.edges(columns, Direction.UPSTREAM, (labels.DERIVES,), HUB_LIMIT)
        self._bounds.note_hub(page.cut)
        return page

    def _wants(self, edge: Edge) -> bool:
        return self._indirect or edge.value("kind") == labels.DIRECT

    def _learn_influences(self, plans: Collection[str]) -> None:
        new = set(plans) - self._row_influences.keys()
        if not new:
            return
        page = self._graph.edges(new, Direction.UPSTREAM, (labels.INFLUENCES,), HUB_LIMIT)
        self._bounds.note_hub(page.cut)
        self._row_influences |= {plan: [] for plan in new}
        for edge in page.edges:
            self._row_influences[edge.in_id].append(edge)
        self.learn_names({edge.out_id for edge in page.edges})
        self._learn_outputs({edge.in_id for edge in page.edges})

    def _learn_outputs(self, plans: Collection[str]) -> None:
        """Read the columns of the schemas that these plans write."""
        new = set(plans) - self._outputs.keys()
        if not new:
            return
        written = self._graph.edges(new, Direction.DOWNSTREAM, (labels.WRITES,), HUB_LIMIT)
        schemas = {edge.in_id for edge in written.edges}
        held = self._graph.edges(schemas, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        self._bounds.note_hub(written.cut | held.cut)
        self.learn_names({edge.in_id for edge in held.edges})
        columns: dict[str, set[Name]] = {schema: set() for schema in schemas}
        for edge in held.edges:
            if edge.in_id in self._names:
                columns[edge.out_id].add(self._names[edge.in_id])
        outputs: dict[str, set[Name]] = {plan: set() for plan in new}
        for edge in written.edges:
            outputs[edge.out_id] |= columns[edge.in_id]
        self._outputs |= {plan: frozenset(names) for plan, names in outputs.items()}

    def learn_names(self, columns: Collection[str]) -> dict[str, Name]:
        """Column ids -> their names; unknown ids are left out."""
        new = set(columns) - self._names.keys()
        kept = self._structure.columns.find(new)
        found = self._names_of(new - kept.keys())
        self._structure.columns.keep(found)
        self._names |= kept | found
        return {column: self._names[column] for column in columns if column in self._names}

    def _names_of(self, columns: Collection[str]) -> dict[str, Name]:
        if not columns:
            return {}
        names = self._history.columns.places(columns)
        unlisted = set(columns) - names.keys()  # in no schema
        for vertex in self._graph.vertices(unlisted) if unlisted else ():
            values = dict(vertex.properties)
            names[vertex.id] = str(values.get("dataset_id", "")), str(values.get("path", ""))
        return names

    def _hops_of(
        self, pairs: Sequence[tuple[Cell, Step]], derivations: _Derivations
    ) -> list[tuple[tuple[Cell, Step], list[Hop]]]:
        """Per column and step the derivations and influences into it."""
        self._learn_fields(pairs, derivations)
        return [(pair, self._hops(*pair, derivations)) for pair in pairs]

    def _hops(self, cell: Cell, step: Step, derivations: _Derivations) -> list[Hop]:
        """The derivations and influences of one step into a column and the structs around it."""
        found = [
            flow for flow in self._flows(cell.path, step, derivations) if self._wants(flow.edge)
        ]
        if self._indirect and self._row_influences[step.logical_plan]:
            own = self._is_written(cell.path, step, derivations)
            if own or self._is_written_within(cell.path, step, derivations):
                found += self._flows_on_rows(step, own=own)
        return [
            Hop(between(flow.edge, source.name, cell.name), source, step.job, flow.own)
            for flow in found
            for source in self._sources(flow, step)
        ]

    def _flows(self, path: str, step: Step, derivations: _Derivations) -> Iterator[_Flow]:
        """The derivations of one step into a column and the structs around it. An edge into a
        struct may lead into other fields of it, or from a field of its source.
        """
        for holder in holders(path):
            write = step.logical_plan, column_id((step.target, holder))
            edges = derivations.get(write, ())
            if holder == path:
                named = (edge for edge in edges if edge.out_id in self._names)
                yield from (_Flow(edge, self._names[edge.out_id][1], own=True) for edge in named)
            elif edges:
                found = self._fields_of(write, edges).of(path[len(holder) + 1 :])
                flows = {
                    (edge.id, source): _Flow(edge, source, own=False) for edge, source in found
                }
                yield from flows.values()

    def _fields_of(self, write: _Write, edges: tuple[Edge, ...]) -> naming.FieldSources[Edge]:
        """The derivations into a struct by its fields: read once for each of its fields."""
        known = self._struct_fields.get(write)
        if known is None or known[0] is not edges:
            flows = (
                (edge, self._names[edge.out_id][1], str(edge.value("fields") or naming.WHOLE))
                for edge in edges
                if edge.out_id in self._names
            )
            known = self._struct_fields[write] = edges, naming.FieldSources(flows)
        return known[1]

    def _flows_on_rows(self, step: Step, *, own: bool) -> list[_Flow]:
        """The influences on all rows that a step writes."""
        return [
            _Flow(as_column_edge(edge), self._names[edge.out_id][1], own)
            for edge in self._row_influences[step.logical_plan]
            if edge.out_id in self._names
        ]

    def _is_written_within(self, path: str, step: Step, derivations: _Derivations) -> bool:
        """Whether the step's plan writes this column or a struct around it."""
        return any(self._is_written(holder, step, derivations) for holder in holders(path))

    def _is_written(self, path: str, step: Step, derivations: _Derivations) -> bool:
        """Whether the step's plan writes exactly this column: its schema has it, or a derivation
        leads into it.
        """
        name = step.target, path
        plan = step.logical_plan
        return name in self._outputs.get(plan, ()) or bool(derivations.get((plan, column_id(name))))

    def _sources(self, flow: _Flow, step: Step) -> list[Cell]:
        dataset, path = self._names[flow.edge.out_id]
        moments = [moment for called, moment in step.inputs if called == dataset]
        if flow.source == path:
            return [Cell(moment, path) for moment in moments]
        return [self._field(moment, flow.source, path) for moment in moments]

    def _field(self, moment: Moment, field: str, struct: str) -> Cell:
        """A field of a read struct, and the column that stands for it: the innermost known one."""
        for known in holders(field):
            if known == struct or self._known_fields.get((moment.dataset, known), False):
                break
        return Cell(moment, field, "" if known == field else known)

    def _learn_fields(self, pairs: Iterable[tuple[Cell, Step]], derivations: _Derivations) -> None:
        """Read which fields of copied structs are known, under any name of their tables."""
        fields = {
            (moment.dataset, holder)
            for cell, step in pairs
            if "." in cell.path
            for flow in self._flows(cell.path, step, derivations)
            if flow.source != self._names[flow.edge.out_id][1]
            for holder in holders(flow.source)[:-1]
            for called, moment in step.inputs
            if called == self._names[flow.edge.out_id][0]
        } - self._known_fields.keys()
        known = self._inventory.known(fields)
        self._known_fields |= {field: field in known for field in fields}

    # --- candidates

    def _candidates(
        self, start: Collection[Name], question: Question
    ) -> tuple[set[Name], set[str], _Derivations]:
        """Columns downstream at any time, with the logical plans between and their derivations."""
        columns, frontier, plans = set[Name](), set(start), set[str]()
        derivations: defaultdict[_Write, list[Edge]] = defaultdict(list)
        for _ in range(question.depth):
            if not frontier or self._bounds.over():
                break
            ids = self._ids_under_all_names(frontier)
            around = self._ids_under_all_names(_structs_around(frontier)) - ids
            page = self._graph.edges(
                ids | around, Direction.DOWNSTREAM, (labels.DERIVES,), HUB_LIMIT
            )
            self._bounds.note_hub(page.cut)
            edges = [
                edge
                for edge in page.edges
                if self._wants(edge) and (edge.out_id in ids or edge.value("fields"))
            ]
            for edge in edges:
                derivations[_write_of(edge)].append(edge)
            plans |= {plan for plan, _ in derivations}
            targets = set(self.learn_names({edge.in_id for edge in edges}).values())
            if self._indirect:
                influenced = self._influenced_plans(ids)
                plans |= influenced
                targets |= {name for plan in influenced for name in self._outputs[plan]}
            frontier = self._placed(targets | self._fields(targets)) - columns
            columns |= frontier
            if len(columns) > CANDIDATE_LIMIT:
                self._bounds.cut("nodes", CANDIDATE_LIMIT)
        return columns, plans, {write: tuple(edges) for write, edges in derivations.items()}

    def _ids_under_all_names(self, columns: Collection[Name]) -> set[str]:
        names = {column_id(name): name for name in self._under_all_names(columns)}
        self._names |= names
        return set(names)

    def _under_all_names(self, columns: Collection[Name]) -> set[Name]:
        """These columns under every name that their tables ever had."""
        names = self._history.names.names_of({dataset for dataset, _ in columns})
        return {
            (called, path) for dataset, path in columns for called in (dataset, *names[dataset])
        }

    def _influenced_plans(self, columns: Collection[str]) -> set[str]:
        page = self._graph.edges(columns, Direction.DOWNSTREAM, (labels.INFLUENCES,), HUB_LIMIT)
        self._bounds.note_hub(page.cut)
        plans = {edge.in_id for edge in page.edges}
        self._learn_outputs(plans)
        for (plan, column), edges in self._derivations_of(plans).items():
            if edges:
                self._outputs[plan] |= {self._names[column]}
        return plans

    def _derivations_of(self, plans: Collection[str]) -> _Derivations:
        """The derivations into every column that these plans write, in a schema or not."""
        targets: defaultdict[str, set[str]] = defaultdict(set)
        for plan, row in self._history.plans.rows(plans).items():
            targets[row.target].add(plan)
        rows = self._inventory.called(targets.keys() - {""})
        self._names |= rows
        found: dict[_Write, list[Edge]] = {
            (plan, column): [] for column, (called, _) in rows.items() for plan in targets[called]
        }
        for edge in self._edges_into(rows).edges:
            write = _write_of(edge)
            if write in found:
                found[write].append(edge)
        self.learn_names({edge.out_id for edges in found.values() for edge in edges})
        return {write: tuple(edges) for write, edges in found.items()}

    def _placed(self, columns: Collection[Name]) -> set[Name]:
        """These columns at every location that their tables ever had."""
        places = self._history.names.locations_of({dataset for dataset, _ in columns})
        return {(place, path) for dataset, path in columns for place in places[dataset]}

    def _fields(self, columns: set[Name]) -> set[Name]:
        """The known columns nested in these, at every location that their tables ever had."""
        tops = self._placed(columns)
        found = (
            self._history.columns.fields(self._under_all_names(tops | columns)) if columns else ()
        )
        return {
            (dataset, path)
            for dataset, path in self._placed(found)
            if any((dataset, holder) in tops for holder in holders(path)[1:])
        }


# --- values --------------------------------------------------------------------------------------


def _write_of(edge: Edge) -> _Write:
    """The write that a derivation belongs to."""
    return str(edge.value("logical_plan")), edge.in_id


def _counts_of(influences: Iterable[_Influence]) -> Influences:
    """The number of influencing columns, by kind of influence and dataset, sorted."""
    counts = Counter((how, dataset) for how, (dataset, _) in influences)
    return tuple(InfluenceCount(*key, counts[key]) for key in sorted(counts))


def _with_structs(column: Name) -> list[Name]:
    """A column and the structs that contain it."""
    return [(column[0], path) for path in holders(column[1])]


def _structs_around(columns: Iterable[Name]) -> set[Name]:
    return {(dataset, holder) for dataset, path in columns for holder in holders(path)[1:]}


def _now(name: Name) -> Cell:
    dataset, path = name
    return Cell(moment_of(dataset, None), path)


def _is_derived(hops: Iterable[Hop]) -> bool:
    """Whether any derivation leads into the column itself."""
    return any(hop.own for hop in hops)


def _way(hop: Hop) -> Way[Cell]:
    kind, how = str(hop.edge.value("kind")), str(hop.edge.value("how"))
    return Way(hop.job, hop.source, kind, how, str(hop.edge.value("expression") or ""))


@lru_cache(maxsize=20_000)
def column_id(name: Name) -> str:
    return identity.column_id(*name)


def node_of(name: Name) -> ColumnNode:
    return ColumnNode(column_id(name), *name)


def between(edge: Edge, source: Name, target: Name) -> Edge:
    """The same derivation between columns at their locations: with the ids of the tables there."""
    out_id, in_id = column_id(source), column_id(target)
    if (edge.out_id, edge.in_id) == (out_id, in_id):
        return edge
    return edge._replace(id=f"{edge.id}.{out_id}.{in_id}", out_id=out_id, in_id=in_id)


def as_column_edge(influence: Edge) -> Edge:
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


def fold_column_edges(
    edges: Iterable[Edge], hidden_plans: Collection[str] = ()
) -> list[ColumnEdge]:
    """One edge per (from, to, kind, how); expressions joined in sorted order. Hidden logical plans
    (ids) are behind an edge only where no other plan is.
    """
    texts: dict[tuple[str, str, str, str], dict[str, set[str]]] = {}  # by plan
    for edge in edges:
        values = dict(edge.properties)
        key = (edge.out_id, edge.in_id, str(values["kind"]), str(values["how"]))
        of_plan = texts.setdefault(key, {}).setdefault(str(values["logical_plan"]), set())
        of_plan.add(str(values.get("expression", "")))
    return [_folded(key, texts[key], hidden_plans) for key in sorted(texts)]


def _folded(
    key: tuple[str, str, str, str], texts: Mapping[str, set[str]], hidden_plans: Collection[str]
) -> ColumnEdge:
    plans = sorted(texts.keys() - set(hidden_plans)) or sorted(texts)
    expressions = {text for plan in plans for text in texts[plan] if text}
    return ColumnEdge(*key, labels.BETWEEN_EXPRESSIONS.join(sorted(expressions)), tuple(plans))
