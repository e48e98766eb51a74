"""Steps of a chain that a row says more of: a person declared them and no run performed them, or
they read a table's metadata alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from graph_model.lineage import Answer, Chain, PlanUse
from graph_model.stores.protocols import Catalogue

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
