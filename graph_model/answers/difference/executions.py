"""Two executions: the answers at the times of both, and their plans."""

from __future__ import annotations

from dataclasses import dataclass

from graph_model import identity, labels
from graph_model.answers.difference.plan import PlanDifference
from graph_model.answers.difference.plan_pairs import PlanPairs
from graph_model.answers.difference.times import TimeDifference, compare_times
from graph_model.answers.executions import ExecutionView, execution_views
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.facts import ExecutionRow
from graph_model.lineage import Question


@dataclass(frozen=True, slots=True)
class ExecutionDifference:
    """``plan`` None: a plan without a stored document (a declaration, for example)."""

    before: ExecutionView
    after: ExecutionView
    lineage: TimeDifference
    plan: PlanDifference | None


def compare_executions(
    sources: Sources,
    executions: tuple[str, str],
    node: str | None,
    question: Question,
    *,
    jobs: bool = True,
    unchanged: bool = True,
    layout: bool = False,
) -> ExecutionDifference:
    """Two executions (ids), about the output of the second one unless a node is given."""
    before, after = (_find_execution(sources, one) for one in executions)
    lineage = compare_times(
        sources,
        node or after.target or after.job,
        (before.at, after.at),
        question,
        jobs=jobs,
        unchanged=unchanged,
        layout=layout,
    )
    first, second = execution_views(sources, (before, after))
    plan = _compare_plans(sources, before, after, layout=layout)
    return ExecutionDifference(first, second, lineage, plan)


def _find_execution(sources: Sources, execution: str) -> ExecutionRow:
    """One execution; NotFound where it is unknown or its job is hidden."""
    if identity.kind_of(execution) == labels.EXECUTION:
        rows = sources.catalogue.executions_of((execution,))
        if rows and sources.hidden.isdisjoint((rows[0].job, rows[0].target)):
            return rows[0]
    raise NotFound("execution", execution)


def _compare_plans(
    sources: Sources, before: ExecutionRow, after: ExecutionRow, *, layout: bool = False
) -> PlanDifference | None:
    """None where a plan has no stored document (a declaration, for example)."""
    try:
        return PlanPairs(sources).compare(_plan_of(before), _plan_of(after), layout=layout)
    except NotFound:
        return None


def _plan_of(row: ExecutionRow) -> str:
    return row.execution_plan or row.logical_plan
