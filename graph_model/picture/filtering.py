"""Parts of an answer: the jobs and datasets that the filter names, and the nodes beside
them. Pure; the walk has been made, so a node left out here was found.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from graph_model.facts import DatasetRow, JobRow
from graph_model.lineage import Answer, LeftOut, Partial, PlanUse
from graph_model.stores.graph import Direction


@dataclass(frozen=True, slots=True)
class Filter:
    """Jobs of a namespace, one job (an id), datasets that ``keep`` wants; None: all."""

    namespace: str | None = None
    job: str | None = None
    keep: Callable[[DatasetRow], bool] | None = None

    def takes(self, row: JobRow) -> bool:
        """Whether a job is wanted."""
        in_namespace = not self.namespace or row.namespace == self.namespace
        return in_namespace and (self.job is None or row.id == self.job)


EVERYTHING: Final = Filter()


def keep_nodes(answer: Answer, datasets: Collection[str], jobs: Collection[str]) -> Answer:
    """The answer with these nodes only, and with the plans and columns between them."""
    plans = tuple(
        use._replace(
            sources=tuple(d for d in use.sources if d in datasets),
            targets=tuple(d for d in use.targets if d in datasets),
        )
        for use in answer.plans
        if use.job in jobs
    )
    columns = tuple(column for column in answer.columns if column.dataset in datasets)
    ids = {column.id for column in columns}
    return replace(
        answer,
        datasets=tuple(d for d in answer.datasets if d in datasets),
        jobs=tuple(job for job in answer.jobs if job in jobs),
        plans=plans,
        columns=columns,
        column_edges=tuple(e for e in answer.column_edges if {e.source, e.target} <= ids),
    )


def keep_datasets(answer: Answer, wanted: Set[str], asked: Set[str]) -> Answer:
    """The wanted datasets and the jobs that read or write one; ``asked`` (ids) stay."""
    jobs = {use.job for use in answer.plans if not wanted.isdisjoint({*use.sources, *use.targets})}
    return keep_nodes(answer, wanted | asked, jobs | asked)


def keep_jobs(answer: Answer, wanted: Set[str], asked: Set[str]) -> Answer:
    """The wanted jobs with their inputs and outputs; ``asked`` (ids) stay."""
    jobs = wanted | (asked & set(answer.jobs))
    beside = {d for use in answer.plans if use.job in jobs for d in (*use.sources, *use.targets)}
    return keep_nodes(answer, beside | asked, jobs)


def keep_derivations(answer: Answer, plans: Set[str], asked: Set[str]) -> Answer:
    """Of an answer about columns the derivations of these logical plans; ``asked`` (ids) stay."""
    edges = tuple(edge for edge in answer.column_edges if not plans.isdisjoint(edge.plans))
    kept = asked | {end for edge in edges for end in (edge.source, edge.target)}
    columns = tuple(column for column in answer.columns if column.id in kept)
    datasets = {column.dataset for column in columns}
    return replace(
        answer,
        columns=columns,
        column_edges=edges,
        datasets=tuple(d for d in answer.datasets if d in datasets),
    )


@dataclass(frozen=True, slots=True)
class Chosen:
    """Connected jobs and failing ones with their tables; ``lone``: the other jobs, which share no
    table with another one. ``cut``: a limit left jobs out that are not lone.
    """

    jobs: frozenset[str]
    datasets: frozenset[str]
    lone: frozenset[str]
    cut: bool


def connected_first(tables: Mapping[str, Set[str]], failing: Sequence[str], limit: int) -> Chosen:
    """Of jobs with their tables (ids) those to draw, at most ``limit`` nodes: the failing ones in
    their order, what is connected with them, nearest first, then what is connected with the jobs of
    most tables. A job comes with all of its tables or not at all.
    """
    users: dict[str, list[str]] = {}
    for job, own in sorted(tables.items()):
        for dataset in own:
            users.setdefault(dataset, []).append(job)
    failed = [job for job in failing if job in tables]
    alone = {job for job, own in tables.items() if all(len(users[table]) == 1 for table in own)}
    lone = alone.difference(failed)
    others = sorted(tables.keys() - lone, key=lambda job: (-len(tables[job]), job))
    jobs, datasets, seen, expanded = set[str](), set[str](), set[str](), set[str]()
    waiting = deque(failed)
    for start in ("", *others):
        waiting.extend([start] if start else [])
        while waiting:
            job = waiting.popleft()
            fresh = tables[job] - datasets
            if job in seen or len(jobs) + 1 + len(datasets) + len(fresh) > limit:
                seen.add(job)
                continue
            seen.add(job)
            jobs.add(job)
            datasets |= fresh
            for dataset in sorted(tables[job] - expanded):
                expanded.add(dataset)
                waiting.extend(users[dataset])
    cut = len(jobs) < len(tables) - len(lone)
    return Chosen(frozenset(jobs), frozenset(datasets), frozenset(lone), cut)


def limit_nodes(answer: Answer, limit: int, hidden: Collection[str], *, cut: bool) -> Answer:
    """At most ``limit`` visible nodes, beside the ``hidden`` ones (ids): jobs first, each with its
    tables; ``cut`` marks it partial.
    """
    if not cut:
        return answer
    jobs: list[str] = []
    datasets: set[str] = set()
    shown = [job for job in answer.jobs if job not in hidden]
    tables: dict[str, set[str]] = {job: set() for job in shown}
    for use in answer.plans:
        tables.setdefault(use.job, set()).update({*use.sources, *use.targets}.difference(hidden))
    for job in sorted(shown, key=lambda key: (-len(tables[key]), key)):
        if len(jobs) + 1 + len(datasets | tables[job]) > limit:
            continue
        jobs.append(job)
        datasets |= tables[job]
    for dataset in answer.datasets:
        if len(jobs) + len(datasets) >= limit:
            break
        if dataset not in hidden:
            datasets.add(dataset)
    kept = keep_nodes(answer, datasets.union(hidden), {*jobs, *hidden})
    return replace(kept, partial=answer.partial or Partial("nodes", limit))


# Beyond a picture: neighbours of its nodes that are not drawn, and failed attempts.
#
# Pure. ``uses`` are the plans around the picture; of a dataset the neighbours are jobs, of a
# job datasets.


def with_attempts(
    answer: Answer, uses: Iterable[PlanUse], direction: Direction, *, node: str
) -> Answer:
    """With what failed runs tried beside the requested ``node``: of a dataset the jobs whose newest
    run failed and tried to read or write it, each with the datasets on its other side; of a job
    everything that it tried. No data flowed, so nothing is followed from there, and what failed
    beside another drawn dataset is no part of the node's lineage.
    """
    tried: list[PlanUse] = []
    for use in uses:
        own = use.job == node
        reads = (own or node in use.sources) and direction != Direction.UPSTREAM
        writes = (own or node in use.targets) and direction != Direction.DOWNSTREAM
        if use.attempted and (reads or writes):
            tried.append(
                use._replace(
                    sources=use.sources if writes else tuple({node} & set(use.sources)),
                    targets=use.targets if reads else tuple({node} & set(use.targets)),
                )
            )
    ends = {end for use in tried for end in (*use.sources, *use.targets)}
    return replace(
        answer,
        datasets=tuple(sorted({*answer.datasets, *ends})),
        jobs=tuple(sorted({*answer.jobs, *(use.job for use in tried)})),
        plans=tuple(sorted({*answer.plans, *tried})),
    )


def count_beyond(
    answer: Answer, uses: Iterable[PlanUse], hidden: Collection[str] = ()
) -> tuple[LeftOut, ...]:
    """Of each drawn node how many neighbours on each side are not drawn, without the ``hidden``
    ones (ids); none: not listed.
    """
    drawn = {*answer.datasets, *answer.jobs}
    known = drawn.union(hidden)
    before: defaultdict[str, set[str]] = defaultdict(set)
    after: defaultdict[str, set[str]] = defaultdict(set)
    for use in uses:
        if use.attempted:
            continue
        for source in use.sources:
            after[source].add(use.job)
            before[use.job].add(source)
        for target in use.targets:
            before[target].add(use.job)
            after[use.job].add(target)
    counted = [
        LeftOut(node, len(before[node] - known), len(after[node] - known)) for node in sorted(drawn)
    ]
    return tuple(left for left in counted if left.upstream or left.downstream)
