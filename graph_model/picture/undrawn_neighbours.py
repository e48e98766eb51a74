"""Beyond a picture: neighbours of its nodes that are not drawn, and failed attempts.

Pure. ``uses`` are the plans around the picture; of a dataset the neighbours are jobs, of a
job datasets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace

from graph_model.lineage import Answer, LeftOut, PlanUse
from graph_model.stores.graph import Direction


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
    return tuple(one for one in counted if one.upstream or one.downstream)
