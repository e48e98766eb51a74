"""The table of everything downstream: one row a dataset, column or job, with a shortest path.

The walk is that of ``lineage``; here its chains get names, last runs, owners and marks. A row says
more of a step that only a person declared, or that reads a table's metadata alone. The columns that
a job writes stand between it and the columns derived from them:

    job -> table (of the job's own answer)      job -> column of that table -> columns of it
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from graph_model import identity, labels
from graph_model.answers.facets import owners_of
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.facts import DatasetRow, Edge, ExecutionRow, JobRow
from graph_model.governance.statements import Governance, walk_datasets
from graph_model.lineage import (
    HUB_LIMIT,
    Answer,
    Chain,
    ChainFlow,
    Lineage,
    Link,
    Partial,
    PlanUse,
    Question,
    Reach,
)
from graph_model.naming import Rules
from graph_model.picture.json_form import to_json
from graph_model.picture.view import JobReference, job_reference
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.graph import Direction, GraphReader
from graph_model.values import iso

MOST_STARTS: Final = 1_000
"""Datasets of one prefix that are followed; more make the answer partial (``starts``)."""
PREFIX: Final = "prefix:"
_HIDDEN: Final = "hidden"
_KINDS: Final = (labels.DATASET, labels.COLUMN, labels.JOB)


@dataclass(frozen=True, slots=True)
class PathNode:
    """A step of a path. ``id`` is "" where the node is hidden."""

    kind: str
    id: str
    label: str


@dataclass(frozen=True, slots=True)
class NewestRun:
    """The newest run at the requested time: of a job, or of the last writer of a dataset."""

    id: str
    job: str | None  # None: it is hidden
    at: str
    state: str


@dataclass(frozen=True, slots=True)
class ImpactItem:
    """A node downstream.

    ``uri`` is that of a dataset, or of a column's dataset; ``namespace`` a job's. ``depth`` counts
    table-to-table (column-to-column) steps; ``path`` is a shortest one from the requested node to
    this one; ``jobs`` are those on the path, ``readers`` the jobs of the answer that read this
    node. ``use`` (DIRECT or INDIRECT), ``how`` and ``expression`` describe the last step between
    columns; ``how`` is MAY_READ for a job that reads the table, its columns unknown. ``declared``:
    a step of the path is only declared, and no run makes it. ``reads``: METADATA where the last
    step reads tables about its source (Iceberg's ``t.snapshots``) and no row of it. ``verdict``
    and ``reason`` are set where the question names a change (``verdicts``). ``flow``: whether the
    node has seen data of the requested one, will at the next runs of plans in force (``next``), or
    did by plans that later ones replaced (``past``).
    """

    kind: str
    id: str
    label: str
    uri: str | None
    namespace: str | None
    depth: int
    path: tuple[PathNode, ...]
    jobs: tuple[JobReference, ...]
    readers: tuple[JobReference, ...]
    use: str | None
    how: str | None
    expression: str | None
    last_run: NewestRun | None
    owners: tuple[str, ...]
    layer: str | None
    classifications: tuple[str, ...]
    declared: bool = False
    verdict: str | None = None
    reason: str | None = None
    flow: ChainFlow = ChainFlow.SEEN
    reads: str | None = None


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """``starts``: the requested nodes. ``hidden`` counts the datasets and jobs left out.

    ``verdict``: the worst verdict of the items, ``none`` without items; None where the question
    names no change.
    """

    starts: tuple[PathNode, ...]
    items: tuple[ImpactItem, ...]
    as_of: str | None
    depth_asked: int
    depth_reached: int
    folded: bool
    partial: Partial | None
    hidden: int
    verdict: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The bounds of a question downstream; see ``lineage.Question`` for the fields they share.

    ``columns``: also return the columns that derive from the columns of the requested datasets; for
    a job, the columns that it writes and those that derive from them.
    """

    depth: int
    at: int | None = None
    columns: bool = False
    indirect: bool = False
    jobs: bool = True
    limit: int = 500
    reach: Reach = Reach.POSSIBLE

    def question(self, node: str = "") -> Question:
        """The question for the walk."""
        return Question(
            node=node,
            direction=Direction.DOWNSTREAM,
            depth=self.depth,
            at=self.at,
            indirect=self.indirect,
            limit=self.limit,
            chains=True,
            reach=self.reach,
        )


class Impact:
    """Answers questions about everything downstream. Raises GraphUnavailable, Unavailable."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._graph = sources.graph
        self._catalogue = sources.catalogue
        self._rules = sources.rules
        self._lineage = sources.lineage

    def of_node(self, node: str, scope: Scope) -> ImpactReport:
        """Downstream of a dataset, a column or a job (an id that ``references`` resolved)."""
        kind = identity.kind_of(node)
        if kind == labels.COLUMN:
            return self.of_columns((node,), scope)
        answers = [self._lineage.ask(scope.question(node))]
        if scope.columns and kind == labels.JOB:
            written = WrittenColumns(self._graph, self._catalogue, self._lineage)
            answers.append(written.below(node, answers[0], scope.question(node)))
        elif scope.columns:
            answers.append(self._columns_of((node,), scope))
        return self._report((node,), answers, scope)

    def of_columns(self, columns: Collection[str], scope: Scope) -> ImpactReport:
        """Downstream of any of these columns (ids)."""
        asked = replace(scope.question(), readers=scope.jobs)
        answer = self._lineage.ask_columns(columns, asked)
        return self._report(tuple(sorted(columns)), [answer], scope)

    def of_prefix(self, prefix: str, scope: Scope) -> ImpactReport:
        """Downstream of all datasets whose canonical URI begins with this prefix, those datasets
        excluded.

        Raises NotFound where there is none. Hidden datasets are not found.
        """
        starts, more = self._datasets_below(canonical_prefix(prefix, self._rules))
        if not starts and "%" in prefix:
            starts, more = self._datasets_below(canonical_prefix(unquote(prefix), self._rules))
        if not starts:
            raise NotFound("dataset", f"{PREFIX}{prefix}")
        roomy = replace(scope, limit=scope.limit + len(starts))
        answers = [self._lineage.ask_downstream(starts, roomy.question())]
        if scope.columns:
            answers.append(self._columns_of(starts, roomy))
        report = self._report(tuple(starts), answers, scope)
        return replace(report, partial=Partial("starts", MOST_STARTS)) if more else report

    def _datasets_below(self, prefix: str) -> tuple[list[str], bool]:
        """The ids of the datasets, and whether more exist than are followed."""
        rows = walk_datasets(self._catalogue, prefix, hidden=self._sources.hidden)
        below = (row.id for row in rows if row.uri.startswith(prefix))
        ids = list(islice(below, MOST_STARTS + 1))
        return ids[:MOST_STARTS], len(ids) > MOST_STARTS

    def _columns_of(self, datasets: Collection[str], scope: Scope) -> Answer:
        return self._lineage.ask_columns_of(datasets, scope.question())

    def _report(
        self, starts: tuple[str, ...], answers: Sequence[Answer], scope: Scope
    ) -> ImpactReport:
        names = _gather(starts, answers, self._sources, scope.at)
        chains = _shortest(answers)
        items = [
            _item(chain, names, self._sources.governance)
            for chain in chains
            if scope.jobs or identity.kind_of(chain.end) != labels.JOB
        ]
        shown = [item for item in items if not names.is_hidden(item.id)]
        gone = {names.home(item.id) for item in items} & self._sources.hidden
        return ImpactReport(
            starts=tuple(names.node(start) for start in starts),
            items=tuple(sorted(shown, key=order_of)),
            as_of=iso(answers[0].as_of),
            depth_asked=scope.depth,
            depth_reached=max(answer.depth_reached for answer in answers),
            folded=any(answer.folded for answer in answers),
            partial=next((answer.partial for answer in answers if answer.partial), None),
            hidden=len(gone),
        )


def order_of(item: ImpactItem) -> tuple[int, int, str, str, str]:
    """Nearest first; at one depth tables, then columns (by table), then jobs, by name."""
    table = (item.uri or "") if item.kind == labels.COLUMN else ""
    return (item.depth, _KINDS.index(item.kind), table, item.label, item.id)


def canonical_prefix(prefix: str, rules: Rules) -> str:
    """The prefix in canonical form: ``s3a://lake/raw/`` => ``s3://lake/raw/``."""
    scheme, separator, rest = prefix.partition(":")
    aliases = dict(rules.scheme_aliases)
    return f"{aliases.get(scheme.lower(), scheme.lower())}:{rest}" if separator else prefix


# --- names ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Names:
    """Names from the catalogue for the nodes on the chains, by id."""

    datasets: Mapping[str, DatasetRow]
    jobs: Mapping[str, JobRow]
    columns: Mapping[str, tuple[str, str]]  # (dataset id, name in the newest schema)
    job_runs: Mapping[str, ExecutionRow]
    writes: Mapping[str, ExecutionRow]
    readers: Mapping[str, Collection[str]]
    owners: Mapping[str, tuple[str, ...]]  # from ownership facets
    declared: frozenset[Step]
    of_metadata: frozenset[Step]
    hidden: frozenset[str]

    def home(self, node: str) -> str:
        """The dataset of a column; otherwise the node itself."""
        return self.columns[node][0] if node in self.columns else node

    def is_hidden(self, node: str) -> bool:
        return self.home(node) in self.hidden

    def node(self, node: str) -> PathNode:
        kind = identity.kind_of(node) or ""
        if self.is_hidden(node):
            return PathNode(kind, "", _HIDDEN)
        if node in self.columns:
            dataset, name = self.columns[node]
            return PathNode(kind, node, f"{self._dataset_label(dataset)}.{name}")
        if node in self.jobs:
            return PathNode(kind, node, self.jobs[node].name)
        return PathNode(kind, node, self._dataset_label(node))

    def _dataset_label(self, dataset: str) -> str:
        row = self.datasets.get(dataset)
        return dataset if row is None else row.name or row.uri

    def references(self, jobs: Iterable[str]) -> tuple[JobReference, ...]:
        """These jobs without hidden ones, in this order."""
        shown = (job for job in dict.fromkeys(jobs) if job not in self.hidden)
        rows = [self.jobs[job] for job in shown if job in self.jobs]
        return tuple(job_reference(row) for row in rows)


def _gather(
    starts: Collection[str], answers: Sequence[Answer], sources: Sources, at: int | None
) -> _Names:
    catalogue = sources.catalogue
    chains = [chain for answer in answers for chain in answer.chains]
    jobs = {link.job for chain in chains for link in chain.links}
    jobs |= {start for start in starts if identity.kind_of(start) == labels.JOB}
    nodes = {column.id: column for answer in answers for column in answer.columns}
    datasets = {dataset for answer in answers for dataset in answer.datasets} | set(starts)
    spelled = _spellings({node.dataset for node in nodes.values()}, catalogue, at)
    return _Names(
        datasets={row.id: row for row in catalogue.datasets(datasets)},
        jobs={row.id: row for row in catalogue.jobs(jobs)},
        columns={key: (node.dataset, spelled.get(key, node.path)) for key, node in nodes.items()},
        job_runs=catalogue.last_executions(jobs, at),
        writes=catalogue.last_writers(datasets, at),
        readers=_readers(answers),
        owners=owners_of(sources, datasets, "dataset", at) | owners_of(sources, jobs, "job", at),
        declared=declared_steps(answers, catalogue),
        of_metadata=metadata_steps(answers),
        hidden=sources.hidden,
    )


def _spellings(datasets: Collection[str], catalogue: Catalogue, at: int | None) -> dict[str, str]:
    return {
        identity.column_id(dataset, column["path"]): column["name"]
        for dataset, schema in catalogue.newest_schemas(datasets, at).items()
        for column in json.loads(schema.columns)
    }


def _readers(answers: Iterable[Answer]) -> dict[str, set[str]]:
    """Per dataset and column the jobs of the answer that read it."""
    readers: dict[str, set[str]] = {}
    for answer in answers:
        for use in answer.plans:
            for source in use.sources:
                readers.setdefault(source, set()).add(use.job)
        for chain in answer.chains:
            before = chain.start
            for link in chain.links:
                readers.setdefault(before, set()).add(link.job)
                before = link.target
    return readers


# --- rows ----------------------------------------------------------------------------------------


def _shortest(answers: Iterable[Answer]) -> list[Chain]:
    """One shortest chain to each node, by depth; for a job reached through tables and through
    columns, the chain through tables.
    """
    shortest: dict[str, Chain] = {}
    for answer in answers:
        for chain in answer.chains:
            shortest.setdefault(chain.end, chain)
    return sorted(shortest.values(), key=lambda chain: (chain.depth, chain))


def _item(chain: Chain, names: _Names, governance: Governance) -> ImpactItem:
    node, last = chain.end, chain.links[-1]
    kind = identity.kind_of(node) or ""
    dataset = names.datasets.get(names.home(node))
    job = names.jobs.get(node)
    tags = governance.tags.get(node, ())
    path = _path(chain, names)
    return ImpactItem(
        kind=kind,
        id=node,
        label=names.columns[node][1] if node in names.columns else names.node(node).label,
        uri=None if dataset is None else dataset.uri,
        namespace=None if job is None else job.namespace,
        depth=chain.depth,
        path=path,
        jobs=names.references(link.job for link in chain.links),
        readers=names.references(sorted(names.readers.get(node, ()))),
        use=last.kind or None,
        how=last.how or None,
        expression=last.expression
        if last.expression and all(reference.id for reference in path)
        else None,
        last_run=_last_run(node, names),
        owners=_owners(node, names, governance),
        layer=None if dataset is None else governance.layers.of(dataset.uri),
        classifications=tuple(tags),
        declared=_is_declared(chain, names),
        flow=chain.flow,
        reads=labels.METADATA if [*steps_of(chain)][-1] in names.of_metadata else None,
    )


def _is_declared(chain: Chain, names: _Names) -> bool:
    """Whether a step of the chain is; a job's own first step into a column counts as the one into
    its table.
    """
    return any(
        (before, job, names.home(target) if before == job else target) in names.declared
        for before, job, target in steps_of(chain)
    )


def _path(chain: Chain, names: _Names) -> tuple[PathNode, ...]:
    """The requested node, then a job, the dataset it wrote, and so on."""
    ids = [chain.start, *(node for link in chain.links for node in _ends(link))]
    if ids[0] == ids[1]:  # the requested job makes the first step
        del ids[0]
    return tuple(names.node(node) for node in ids)


def _ends(link: Link) -> tuple[str, ...]:
    return (link.job, link.target) if link.target else (link.job,)


def _last_run(node: str, names: _Names) -> NewestRun | None:
    row = names.job_runs.get(node) or names.writes.get(names.home(node))
    if row is None:
        return None
    job = None if row.job in names.hidden else row.job
    return NewestRun(row.run, job, iso(row.at), row.state)


def _owners(node: str, names: _Names, governance: Governance) -> tuple[str, ...]:
    """Owners from the node's facet and classifications; for a column also from its dataset's."""
    assigned = [
        governance.assigned[tag, holder]
        for holder in dict.fromkeys((node, names.home(node)))
        for tag in governance.tags.get(holder, ())
    ]
    reported = names.owners.get(names.home(node), ())
    return tuple(
        dict.fromkeys(
            (*reported, *(assignment.owner for assignment in assigned if assignment.owner))
        )
    )


Step = tuple[str, str, str]
"""(dataset or column read, job, dataset or column written); the last is "" where a chain ends at
the job, the first is the job itself where it is the requested node.
"""


def steps_of(chain: Chain) -> Iterator[Step]:
    """The steps of a chain, downstream from its start."""
    before = chain.start
    for link in chain.links:
        yield before, link.job, link.target
        before = link.target


def declared_steps(answers: Iterable[Answer], catalogue: Catalogue) -> frozenset[Step]:
    """The steps that come only from declarations: no plan that has run makes them."""
    listed = tuple(answers)
    plans = {use.logical_plan for answer in listed for use in answer.plans}
    plans |= {plan for answer in listed for edge in answer.column_edges for plan in edge.plans}
    declared = catalogue.declared_plans(plans)
    if not declared:
        return frozenset()
    jobs = {row.id: row.job for row in catalogue.logical_plans(plans)}
    behind: defaultdict[Step, set[str]] = defaultdict(set)
    for answer in listed:
        for step, plan in _made_by(answer, jobs):
            behind[step].add(plan)
    return frozenset(step for step, plans in behind.items() if plans <= declared)


def metadata_steps(answers: Iterable[Answer]) -> frozenset[Step]:
    """The steps that read tables about their source (Iceberg's ``t.snapshots``), and no row of it:
    no plan behind them does.
    """
    steps, of_rows = set[Step](), set[Step]()
    for answer in answers:
        for use in answer.plans:
            for step in _steps_by(use):
                (steps if step[0] in use.metadata else of_rows).add(step)
    return frozenset(steps - of_rows)


def _steps_by(use: PlanUse) -> Iterator[Step]:
    for source in (use.job, *use.sources):
        for target in ("", *use.targets):
            yield source, use.job, target


def _made_by(answer: Answer, jobs: dict[str, str]) -> Iterator[tuple[Step, str]]:
    """Every step of the answer, with the plan that makes it."""
    for use in answer.plans:
        for step in _steps_by(use):
            yield step, use.logical_plan
    for edge in answer.column_edges:
        for plan in edge.plans:
            job = jobs.get(plan, "")
            for source, target in ((edge.source, edge.target), (edge.source, "")):
                yield (source, job, target), plan


_HUB: Final = Partial("hub", HUB_LIMIT)


class WrittenColumns:
    """Finds the columns in one graph and one catalogue; ``lineage`` follows them downstream."""

    def __init__(self, graph: GraphReader, catalogue: Catalogue, lineage: Lineage) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._lineage = lineage
        self._cut = False

    def below(self, job: str, tables: Answer, question: Question) -> Answer:
        """The columns of the tables in ``tables``, the job's own answer, that the job wrote in one
        step, or that derive from those. ``question`` is the one that ``tables`` answers.
        """
        plans = {use.logical_plan for use in tables.plans if use.job == job}
        written = self._of_plans(plans) if question.depth > 0 else frozenset()
        asked = replace(question, node="", depth=max(0, question.depth - 1))
        answer = self._lineage.ask_columns(written, asked)
        starts = self._lineage.ask_columns(written, replace(asked, depth=0)).columns
        homes = {column.id: column.dataset for column in (*starts, *answer.columns)}
        near = {chain.end for chain in tables.chains if chain.depth == 1}
        direct = {column.id for column in starts if column.dataset in near}
        flows = {chain.end: chain.flow for chain in tables.chains}
        chains = [Chain(job, (Link(job, column),), flows[homes[column]]) for column in direct]
        chains += [
            Chain(job, (Link(job, chain.start), *chain.links), chain.flow)
            for chain in answer.chains
            if chain.start in direct and chain.end != job
        ]
        ends = {chain.end for chain in tables.chains}
        kept = [chain for chain in chains if homes.get(chain.end, chain.end) in ends]
        return replace(
            answer,
            chains=tuple(sorted(kept, key=lambda chain: (chain.depth, chain))),
            depth_asked=question.depth,
            depth_reached=max((chain.depth for chain in kept), default=0),
            partial=answer.partial or (_HUB if self._cut else None),
        )

    def _of_plans(self, plans: Collection[str]) -> frozenset[str]:
        """Ids of the columns that these plans write: those of their schemas, and those that they
        derive, which is all that a declaration reports.
        """
        schemas = self._ends(plans, labels.WRITES)
        listed = self._ends(schemas, labels.HAS)
        targets = {row.target for row in self._catalogue.logical_plans(plans)} - {""}
        held = self._ends(targets, labels.HAS) - listed
        derived = self._edges(held, Direction.UPSTREAM, labels.DERIVES)
        own = {edge.in_id for edge in derived if edge.value("logical_plan") in plans}
        return frozenset(end for end in listed | own if identity.kind_of(end) == labels.COLUMN)

    def _ends(self, ids: Collection[str], label: str) -> set[str]:
        return {edge.in_id for edge in self._edges(ids, Direction.DOWNSTREAM, label)}

    def _edges(self, ids: Collection[str], direction: Direction, label: str) -> tuple[Edge, ...]:
        page = self._graph.edges(ids, direction, (label,), HUB_LIMIT)
        self._cut = self._cut or bool(page.cut)
        return tuple(page.edges)


# --- as JSON --------------------------------------------------------------------------------------


def impact_reply(report: ImpactReport) -> dict[str, Any]:
    """The table of everything downstream."""
    return {
        "starts": to_json(report.starts),
        "items": to_json(report.items),
        "total": len(report.items),
        "asOf": report.as_of,
        "depth": {"asked": report.depth_asked, "reached": report.depth_reached},
        "folded": report.folded,
        "partial": to_json(report.partial),
        "hidden": report.hidden,
        "verdict": report.verdict,
    }
