"""The entry of the package: it takes a question and returns an answer.

The flows between the tables of a whole estate (``flows_into``) are coarser than a walk, which binds
each read to its writes. A plan counts, with all of its inputs, when it wrote a table since the last
full overwrite replaced the table's content. Partitions and versions are not distinguished, nor are
reads before a table moved. A write to another branch than the main one does not count until the
branch is published.

    a overwrites t, then b and c append to it  =>  a, b and c;  then d overwrites it  =>  d

What wrote a location counts for every location that shares files with it, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from graph_model import identity, labels
from graph_model.facts import Edge
from graph_model.lineage.chains import Trace, join_chains
from graph_model.lineage.column_reader import Inventory, Name, column_id, node_of
from graph_model.lineage.column_walks import ColumnFindings, ColumnWalks, fold_column_edges
from graph_model.lineage.history import Moment
from graph_model.lineage.history.history import History, end_of, moment_of
from graph_model.lineage.questions import (
    COLUMN_LIMIT,
    HUB_LIMIT,
    Answer,
    Bounds,
    ColumnEdge,
    ColumnNode,
    Influences,
    NotSeen,
    Partial,
    PlanUse,
    Question,
    Reach,
    WalkEvidence,
)
from graph_model.lineage.structure import Structure
from graph_model.lineage.tables import TableFindings, TableWalks, uses_of
from graph_model.lineage.walk import WALKS, Step, plans_of_job, read_sources
from graph_model.stores.catalogue_values import Writer
from graph_model.stores.graph import Direction, GraphReader

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue


@dataclass(frozen=True, slots=True, order=True)
class ColumnDerivation:
    """The computation of one column from another by one logical plan; ``source`` is a (dataset,
    path).
    """

    logical_plan: str
    job: str
    source: Name
    kind: str
    how: str
    expression: str


class _Inside(NamedTuple):
    """The columns in an answer about tables."""

    columns: tuple[ColumnNode, ...] = ()
    edges: tuple[ColumnEdge, ...] = ()
    influences: Mapping[str, Influences] = {}


class Lineage:
    """Answers questions from one graph and one catalogue.

    ``expired`` returns True once the time limit has passed: the answer then holds the results so
    far and is marked partial. ``history`` keeps the history read so far, so one object serves one
    request. ``structure`` is the structure that earlier questions to this catalogue have read.
    ``hidden`` are ids of datasets and jobs: an answer goes through them and holds them, so that its
    reader can tell that something is hidden, but they count neither against ``limit`` nor as left
    out, and no depth is reached by them alone.
    Raises GraphUnavailable when the graph does not answer.
    """

    def __init__(
        self,
        graph: GraphReader,
        catalogue: Catalogue,
        *,
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
        structure: Structure | None = None,
        hidden: Collection[str] = (),
    ) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._expired = expired
        self._time_limit_ms = time_limit_ms
        self._structure = structure or Structure()
        self._hidden = hidden
        self.history = History(catalogue, self._structure)

    # --- tables and jobs

    def ask(self, question: Question) -> Answer:
        """The neighbourhood of a dataset, a job or a column, which must exist."""
        if identity.kind_of(question.node) == labels.COLUMN:
            return self.ask_columns((question.node,), question)
        evidence = self.evidence()
        question = self._located(question)
        findings = self._beside(question, evidence.bounds)
        tables = TableWalks(evidence)
        for part in question.parts:
            findings.seen = frozenset(findings.uses) if part.reach != question.reach else None
            self._walk_from(tables, part, findings)
        answer = self._answer(question, findings, evidence)
        if question.not_seen:
            answer = replace(answer, not_seen=self._count_not_seen(question, findings))
        return _with_chains(answer, question, findings.traces, (question.node,))

    def _beside(self, question: Question, bounds: Bounds) -> TableFindings:
        """The findings before any walk: the node alone."""
        findings = TableFindings(question.limit, bounds, hidden=self._hidden)
        if identity.kind_of(question.node) == labels.JOB:
            findings.admit((), (question.node,))
        else:
            findings.admit((question.node,), ())
            findings.answers.add(question.node)
        return findings

    def _walk_from(self, tables: TableWalks, question: Question, findings: TableFindings) -> None:
        if Direction.UPSTREAM in question.directions:
            tables.upstream(question, findings)
        if Direction.DOWNSTREAM in question.directions:
            tables.downstream((question.node,), question, findings)

    def _count_not_seen(self, question: Question, seen: TableFindings) -> NotSeen:
        """What a walk by plans in force finds beyond ``seen``."""
        evidence = self.evidence()
        findings = self._beside(question, evidence.bounds)
        part = replace(question, reach=Reach.IN_FORCE, chains=False)
        self._walk_from(TableWalks(evidence), part, findings)
        return NotSeen(
            len(findings.datasets - seen.datasets - set(self._hidden)),
            len(findings.jobs - seen.jobs - set(self._hidden)),
            evidence.bounds.partial is not None,
        )

    def ask_downstream(self, start: Collection[str], question: Question) -> Answer:
        """The results of these datasets (ids) together, in one walk; ignores ``question.node``."""
        evidence = self.evidence()
        places = self._places(start, question.at)
        findings = TableFindings(question.limit, evidence.bounds, hidden=self._hidden)
        findings.admit(places, ())
        findings.answers |= findings.datasets
        tables = TableWalks(evidence)
        for part in question.parts:
            findings.seen = frozenset(findings.uses) if part.reach != question.reach else None
            tables.downstream(places, part, findings)
        answer = self._answer(question, findings, evidence)
        return _with_chains(answer, question, findings.traces, places)

    def overview(
        self,
        datasets: Collection[str],
        jobs: Collection[str],
        at: int | None,
        reach: Reach = Reach.SEEN,
    ) -> Answer:
        """These datasets and jobs with all visible plans between them, of POSSIBLE also those in
        force. Where a job's newest run failed, its inputs and outputs are included as
        ``attempted``.
        """
        evidence = self.evidence()
        findings = TableFindings(
            len(datasets) + len(jobs), evidence.bounds, set(datasets), set(datasets), set(jobs),
            hidden=self._hidden,
        )  # fmt: skip
        ends = {*datasets, *self._reading_plans(jobs, evidence.bounds)}
        question = Question("", depth=0, at=at, limit=findings.limit, reach=reach)
        for part in question.parts:
            walk = WALKS[part.reach](evidence, end_of(at))
            expanded = walk.expand({moment_of(end, at) for end in ends})
            steps = [(moment, step) for moment, some in expanded.items() for step in some]
            for moment, step in TableWalks(evidence).with_shared_reads(steps, at):
                read = {state.dataset for _, state in step.inputs}
                if step.target or not findings.datasets.isdisjoint(read):
                    findings.uses |= uses_of(step, moment)
        answer = self._answer(question, findings, evidence)
        attempts = self._attempts(findings, at)
        return replace(answer, plans=tuple(sorted((*answer.plans, *attempts))))

    def _reading_plans(self, jobs: Collection[str], bounds: Bounds) -> set[str]:
        """The plans of these jobs that write nothing, at most HUB_LIMIT of each."""
        by_job = self._catalogue.reading_plans(jobs, HUB_LIMIT + 1)
        bounds.note_hub([job for job, plans in by_job.items() if len(plans) > HUB_LIMIT])
        return {plan for plans in by_job.values() for plan in plans[:HUB_LIMIT]}

    def plans_of_job(self, job: str) -> set[str]:
        """The ids of its complete logical plans, at most HUB_LIMIT."""
        return plans_of_job(self.evidence(), job)

    def flows_into(
        self, datasets: Collection[str], at: int | None = None
    ) -> tuple[tuple[PlanUse, ...], Partial | None]:
        """The plans that wrote the data that these datasets have at the time, for a map: see the
        function of this name.
        """
        evidence = self.evidence()
        return flows_into(datasets, evidence, at), evidence.bounds.partial

    def reads_of(self, jobs: Collection[str], at: int | None) -> tuple[PlanUse, ...]:
        """The plans of these jobs that write nothing and ran until the time, each with what it
        reads, for a map.
        """
        evidence = self.evidence()
        plans = self._reading_plans(jobs, evidence.bounds)
        if at is not None:
            walk = WALKS[Reach.SEEN](evidence, end_of(at))
            expanded = walk.expand({moment_of(plan, at) for plan in plans})
            plans = {moment.dataset for moment, steps in expanded.items() if steps}
        rows = self.history.plans.rows(plans)
        read = read_sources(evidence, plans)
        called = {source for inputs in read.values() for source in inputs}
        until = end_of(at) - 1
        places = self.history.names.locate((source, until) for source in called)
        return tuple(
            PlanUse(
                plan, rows[plan].job, rows[plan].mode,
                tuple(sorted({places[source, until] for source in inputs})), (),
            )
            for plan, inputs in sorted(read.items())
            if plan in rows
        )  # fmt: skip

    def _attempts(self, findings: TableFindings, at: int | None) -> list[PlanUse]:
        """The plans of the newest runs of jobs where these failed, between drawn nodes."""
        tried = {plan for _, plan in self._catalogue.attempts(findings.jobs, at)}
        if not tried:
            return []
        page = self._graph.edges(tried, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        findings.bounds.note_hub(page.cut)
        rows = self.history.plans.rows(tried).values()
        until = end_of(at) - 1
        called = {edge.out_id for edge in page.edges} | {row.target for row in rows}
        places = self.history.names.locate((dataset, until) for dataset in called)
        read: defaultdict[str, set[str]] = defaultdict(set)
        for edge in page.edges:
            read[edge.in_id] |= {places[edge.out_id, until]} & findings.datasets
        return [
            PlanUse(
                row.id, row.job, row.mode, tuple(sorted(read[row.id])),
                tuple({places[row.target, until]} & findings.datasets), attempted=True,
            )
            for row in rows
        ]  # fmt: skip

    def with_neighbours(
        self, datasets: Collection[str], jobs: Collection[str], at: int | None
    ) -> tuple[set[str], set[str], bool]:
        """These datasets and jobs with their neighbours at any time, and whether a hub has more
        neighbours than returned.
        """
        down = Direction.DOWNSTREAM
        shared = self.history.locations.with_shared(datasets, at)
        names = self.history.names.names_of(shared)
        called = {name for dataset in shared for name in (dataset, *names[dataset])}
        of_jobs = self._graph.edges(jobs, down, (labels.HAS,), HUB_LIMIT)
        reading = self._graph.edges(called, down, (labels.FEEDS,), HUB_LIMIT)
        ends = {edge.in_id for page in (of_jobs, reading) for edge in page.edges}
        plans = {plan for plan in ends if identity.kind_of(plan) == labels.LOGICAL_PLAN}
        plans |= {writer.logical_plan for writer in self._catalogue.writers(called, at)}
        rows = self.history.plans.rows(plans).values()
        fed = self._graph.edges(plans, Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        neighbours = {row.target for row in rows} | {edge.out_id for edge in fed.edges}
        places = self.history.names.locations_of(neighbours)
        located = {place for dataset in neighbours for place in places[dataset]}
        cut = any(page.cut for page in (of_jobs, reading, fed))
        return {*datasets, *located} - {""}, {*jobs, *(row.job for row in rows)}, cut

    def evidence(self) -> WalkEvidence:
        """The evidence of another walk, within bounds of its own."""
        bounds = Bounds(self._expired, self._time_limit_ms)
        return WalkEvidence(self._graph, self._catalogue, self.history, self._structure, bounds)

    def _located(self, question: Question) -> Question:
        """A question about a catalog name, moved to its location."""
        if identity.kind_of(question.node) != labels.DATASET:
            return question
        moment = (question.node, end_of(question.at) - 1)
        return replace(question, node=self.history.names.locate((moment,))[moment])

    def _places(self, datasets: Collection[str], at: int | None) -> set[str]:
        """The locations of these datasets at the time."""
        until = end_of(at) - 1
        return set(self.history.names.locate((dataset, until) for dataset in datasets).values())

    def _answer(
        self, question: Question, findings: TableFindings, evidence: WalkEvidence
    ) -> Answer:
        inside = self._columns_of(findings, question, evidence) if question.columns else _Inside()
        plans = self.history.plans.rows({use[0] for use in findings.uses})
        modes = {plan: row.mode for plan, row in plans.items()}
        origins: Mapping[str, Mapping[str, str]] = {}
        if question.chains:
            origins = read_sources(evidence, plans)
        return Answer(
            datasets=tuple(sorted(findings.datasets)),
            jobs=tuple(sorted(findings.jobs)),
            plans=findings.plan_uses(modes, origins),
            columns=inside.columns,
            column_edges=inside.edges,
            as_of=self._catalogue.newest_event(question.at),
            depth_asked=question.depth,
            depth_reached=findings.reached,
            partial=findings.bounds.partial,
            folded=findings.folded,
            via=tuple(sorted(findings.datasets - findings.answers)),
            left_out=findings.left_out(),
            influences=inside.influences,
        )

    # --- columns inside the tables of an answer

    def _columns_of(
        self, findings: TableFindings, question: Question, evidence: WalkEvidence
    ) -> _Inside:
        """The columns of the drawn tables, the derivations between them and the influences on
        them.
        """
        columns = ColumnWalks(evidence, indirect=question.indirect)
        drawn = findings.datasets.difference(self._hidden)
        listed = _columns_at(evidence, columns, drawn, question.at)
        walked = (step for _, step in findings.steps)
        names, edges = columns.inside(_drawn_steps(findings), listed, walked, question.at)
        names = {name for name in names if name[0] not in self._hidden}
        names = _within(names, evidence.bounds)
        nodes = {column_id(name): node_of(name) for name in names}
        within = [e for e in edges if {e.out_id, e.in_id} <= nodes.keys()]
        derived = fold_column_edges(
            within, self._hidden_plans(within), _seen_edges(within, findings)
        )
        moments = {
            m for at, step in findings.steps for m in (at, *(read for _, read in step.inputs))
        }
        moments |= {moment_of(dataset, question.at) for dataset in findings.datasets}
        influences = self._influences(columns, names, moments, question.at, evidence.bounds)
        return _Inside(tuple(nodes[key] for key in sorted(nodes)), tuple(derived), influences)

    def _hidden_plans(self, edges: Iterable[Edge]) -> set[str]:
        """The plans of hidden jobs behind these edges between columns."""
        if not self._hidden:
            return set()
        jobs = self.history.plans.jobs_of({str(edge.value("logical_plan")) for edge in edges})
        return {plan for plan, job in jobs.items() if job in self._hidden}

    def _influences(
        self,
        columns: ColumnWalks,
        names: Collection[Name],
        moments: Collection[Moment],
        at: int | None,
        bounds: Bounds,
    ) -> Mapping[str, Influences]:
        """The influences on these columns, at the moments at which the walk visited them."""
        if bounds.late():
            return {}
        datasets = {dataset for dataset, _ in names}
        seen = {moment for moment in moments if moment.dataset in datasets}
        counted = columns.influences_on(names, seen, at)
        return {key: counted.get(key, ()) for key in map(column_id, names)}

    def derivations(self, column: str, at: int | None) -> tuple[ColumnDerivation, ...]:
        """How the visible writes at the time compute a column (an id): one step, plan by plan.

        Influences on the rows (FILTER, JOIN, GROUP_BY, SORT) are included.
        """
        columns = ColumnWalks(self.evidence(), indirect=True)
        return tuple(
            sorted(
                ColumnDerivation(
                    str(hop.edge.value("logical_plan")),
                    hop.job,
                    hop.source.name,
                    str(hop.edge.value("kind")),
                    str(hop.edge.value("how")),
                    str(hop.edge.value("expression") or ""),
                )
                for hop in columns.into(column, at)
            )
        )

    # --- columns across jobs

    def ask_columns(self, start: Collection[str], question: Question) -> Answer:
        """The sources and the results of columns (ids), derivation by derivation."""
        evidence = self.evidence()
        columns = ColumnWalks(evidence, indirect=question.indirect)
        names = columns.located(start, question.at)
        findings = ColumnFindings(question.limit, evidence.bounds, hidden=self._hidden)
        return self._ask_columns(columns, names, set(), question, findings)

    def ask_columns_of(self, datasets: Collection[str], question: Question) -> Answer:
        """As ``ask_columns``, from every column of these datasets (ids).

        A column that a table no longer has is included where the answer has lineage of it.
        """
        evidence = self.evidence()
        columns = ColumnWalks(evidence, indirect=question.indirect)
        inventory = Inventory(evidence)
        places = self._places(datasets, question.at)
        names = _columns_at(evidence, columns, places, question.at)
        optional = {name for name in inventory.ever(places) if name not in names}
        findings = ColumnFindings(question.limit, evidence.bounds, hidden=self._hidden)
        return self._ask_columns(columns, names, optional, question, findings)

    def columns_of(self, datasets: Collection[str], at: int | None) -> tuple[ColumnNode, ...]:
        """The columns of datasets (ids): of schemas, and those that only lineage names."""
        evidence = self.evidence()
        names = _columns_at(evidence, ColumnWalks(evidence, indirect=False), datasets, at)
        return tuple(node_of(name) for name in sorted(names))

    def columns_at(self, datasets: Collection[str], at: int | None) -> dict[str, set[str]]:
        """Per dataset (ids) the paths of its columns at the time, nested ones included."""
        paths: dict[str, set[str]] = {dataset: set() for dataset in datasets}
        for dataset, path in Inventory(self.evidence()).columns(datasets, at):
            paths[dataset].add(path)
        return paths

    def _ask_columns(
        self,
        columns: ColumnWalks,
        names: set[Name],
        optional: set[Name],
        question: Question,
        findings: ColumnFindings,
    ) -> Answer:
        findings.admit_asked(names)
        findings.moments |= {moment_of(dataset, question.at) for dataset, _ in names}
        for part in question.parts:
            findings.seen = frozenset(findings.edges) if part.reach != question.reach else None
            for direction in part.directions:
                walk = columns.upstream if direction == Direction.UPSTREAM else columns.downstream
                walk(names, part, findings, optional)
        counted = self._count_not_seen_columns(names, optional, question, findings)
        edges = tuple(sorted(findings.drawn(self._hidden_plans(findings.edges.values()))))
        drawn = [(node.dataset, node.path) for node in findings.nodes.values()]
        influences = self._influences(
            columns, drawn, findings.moments, question.at, findings.bounds
        )
        answer = Answer(
            datasets=tuple(sorted(findings.datasets)),
            jobs=(),
            plans=(),
            columns=tuple(findings.nodes[key] for key in sorted(findings.nodes)),
            column_edges=edges,
            as_of=self._catalogue.newest_event(question.at),
            depth_asked=question.depth,
            depth_reached=findings.reached,
            partial=findings.bounds.partial,
            folded=findings.folded,
            via=tuple(sorted(findings.nodes.keys() - findings.answers)),
            left_out=findings.left_out(),
            influences=influences,
            not_seen=counted,
        )
        return _with_chains(
            answer, question, findings.traces, set(map(column_id, names | optional))
        )

    def _count_not_seen_columns(
        self,
        names: set[Name],
        optional: set[Name],
        question: Question,
        seen: ColumnFindings,
    ) -> NotSeen | None:
        """The tables and jobs of columns that a walk by plans in force finds beyond ``seen``."""
        if not question.not_seen:
            return None
        evidence = self.evidence()
        columns = ColumnWalks(evidence, indirect=question.indirect)
        findings = ColumnFindings(question.limit, evidence.bounds, hidden=self._hidden)
        findings.admit_asked(names)
        part = replace(question, reach=Reach.IN_FORCE, chains=False)
        for direction in part.directions:
            walk = columns.upstream if direction == Direction.UPSTREAM else columns.downstream
            walk(names, part, findings, optional)
        behind, behind_seen = _plans_behind(findings), _plans_behind(seen)
        jobs = self.history.plans.jobs_of(behind | behind_seen)
        more = {jobs.get(plan, "") for plan in behind}
        known = {jobs.get(plan, "") for plan in behind_seen}
        return NotSeen(
            len(findings.datasets - seen.datasets - set(self._hidden)),
            len(more - known - set(self._hidden)),
            evidence.bounds.partial is not None,
        )


def _columns_at(
    evidence: WalkEvidence, columns: ColumnWalks, datasets: Collection[str], at: int | None
) -> set[Name]:
    """The columns of these datasets at the time; of those without a schema also the open ones."""
    inventory = Inventory(evidence)
    names = inventory.columns(datasets, at)
    return names | columns.opened(inventory.without_schema, at)


def _plans_behind(findings: ColumnFindings) -> set[str]:
    return {str(edge.value("logical_plan")) for edge in findings.edges.values()}


def _seen_edges(edges: Iterable[Edge], findings: TableFindings) -> frozenset[str] | None:
    """Those of the edges between columns (ids) by plans that reads have seen; None: all."""
    if findings.seen is None:
        return None
    plans = {use[0] for use in findings.seen}
    return frozenset(edge.id for edge in edges if edge.value("logical_plan") in plans)


def _within(names: set[Name], bounds: Bounds) -> set[Name]:
    """The first columns by id, up to the limit."""
    if len(names) <= COLUMN_LIMIT:
        return names
    bounds.cut("nodes", COLUMN_LIMIT)
    return set(sorted(names, key=column_id)[:COLUMN_LIMIT])


def _drawn_steps(findings: TableFindings) -> dict[str, list[Step]]:
    """Per drawn dataset the steps into it whose job is drawn, one for each plan and name; a step
    has the drawn datasets that it read, at any time.
    """
    drawn = {
        (plan, source, "") for plan, job, source, _, _, _ in findings.uses if job in findings.jobs
    }
    drawn |= {
        (plan, "", target) for plan, job, _, _, target, _ in findings.uses if job in findings.jobs
    }
    inputs: defaultdict[tuple[str, Step], set[tuple[str, Moment]]] = defaultdict(set)
    for moment, step in findings.steps:
        key = moment.dataset, step._replace(inputs=())
        if moment.dataset in findings.datasets and (step.logical_plan, "", moment.dataset) in drawn:
            inputs[key] |= {
                (called, moment_of(read.dataset, None))
                for called, read in step.inputs
                if read.dataset in findings.datasets
                and (step.logical_plan, read.dataset, "") in drawn
            }
    steps: defaultdict[str, list[Step]] = defaultdict(list)
    for (dataset, step), read in inputs.items():
        steps[dataset].append(step._replace(inputs=tuple(sorted(read))))
    return steps


def _with_chains(
    answer: Answer,
    question: Question,
    traces: Mapping[Reach, Trace[Any]],
    start: Collection[str],
) -> Answer:
    """The answer with the chains of its downstream walks to the drawn nodes, without the start.

    An answer about columns draws no jobs: there, every job on a chain counts.
    """
    if not question.chains:
        return answer
    drawn = {*answer.datasets, *answer.jobs, *(column.id for column in answer.columns)}
    chains = {
        reach: tuple(
            chain
            for chain in trace.chains()
            if chain.end not in start
            and (
                chain.end in drawn or (answer.columns and identity.kind_of(chain.end) == labels.JOB)
            )
        )
        for reach, trace in traces.items()
    }
    seen, in_force = chains.get(Reach.SEEN, ()), chains.get(Reach.IN_FORCE, ())
    if question.reach == Reach.POSSIBLE:
        return replace(answer, chains=join_chains(seen, in_force))
    return replace(answer, chains=seen or in_force)


def flows_into(
    datasets: Collection[str], evidence: WalkEvidence, at: int | None
) -> tuple[PlanUse, ...]:
    """The plans, declared ones too, that wrote the data that these datasets have at the time, each
    with its inputs.
    """
    history = evidence.history
    until = end_of(at) - 1
    around = history.locations.around_at(datasets, at)
    evidence.bounds.note_locations(cut=history.locations.cut)
    locations = {*datasets, *(other for others in around.values() for other in others)}
    plans_into: defaultdict[str, set[str]] = defaultdict(set)
    for place, plan in (*_written(locations, evidence, at), *_declared(locations, history, at)):
        plans_into[place].add(plan)
    written = {
        (dataset, plan)
        for dataset, others in around.items()
        for place in (dataset, *others)
        for plan in plans_into[place]
    }
    plans = {plan for _, plan in written}
    sources = read_sources(evidence, plans)
    rows = history.plans.rows(plans)
    called = {source for read in sources.values() for source in read}
    places = history.names.locate((source, until) for source in called)
    return tuple(
        PlanUse(
            plan, rows[plan].job, rows[plan].mode,
            tuple(sorted({places[source, until] for source in sources[plan]})), (dataset,),
        )
        for dataset, plan in sorted(written)
        if plan in sources and plan in rows
    )  # fmt: skip


def _written(
    datasets: Collection[str], evidence: WalkEvidence, at: int | None
) -> Iterator[tuple[str, str]]:
    """(dataset, logical plan) of the writes that nothing has replaced until the time."""
    until = end_of(at) - 1
    targets = evidence.history.names.targets_of(datasets)
    moved = {(target, until) for names in targets.values() for target, place in names if place}
    locations = evidence.history.names.locate(moved)
    asked = {target for names in targets.values() for target, _ in names}
    writers = _by_target(evidence.catalogue.writers(asked, at, main=True))
    for dataset, names in targets.items():
        own = [
            writer
            for target, place in names
            if not place or locations[target, until] == place
            for writer in writers.get(target, ())
        ]
        for plan in _unreplaced(own):
            yield dataset, plan


def _by_target(writers: Iterable[Writer]) -> Mapping[str, list[Writer]]:
    by_target: defaultdict[str, list[Writer]] = defaultdict(list)
    for writer in writers:
        by_target[writer.target].append(writer)
    return by_target


def _unreplaced(writers: Collection[Writer]) -> set[str]:
    replaced = [writer.latest for writer in writers if writer.mode == labels.OVERWRITE]
    floor = max(replaced, default=None)
    return {writer.logical_plan for writer in writers if floor is None or writer.latest >= floor}


def _declared(
    datasets: Collection[str], history: History, at: int | None
) -> Iterator[tuple[str, str]]:
    moments = [moment_of(dataset, at) for dataset in datasets]
    for moment, declared in history.declared.flows(moments).items():
        for flow in declared:
            yield moment.dataset, flow.logical_plan
