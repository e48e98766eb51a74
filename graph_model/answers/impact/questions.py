"""``/graph/impact`` and ``/graph/impact/plan``: everything downstream; the impact of a change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graph_model import identity, labels
from graph_model.answers.impact.changes import ChangeKind
from graph_model.answers.impact.check import CheckReport, ImpactCheck
from graph_model.answers.impact.outline import PlanOutline
from graph_model.answers.impact.report import PREFIX, Impact, ImpactReport, Scope
from graph_model.answers.sources import Sources
from graph_model.answers.visibility import find_node


def impact(sources: Sources, reference: str, scope: Scope) -> ImpactReport:
    """Everything downstream of a dataset, a column, a job (in any spelling) or a ``prefix:``."""
    if reference.startswith(PREFIX):
        return Impact(sources).of_prefix(reference.removeprefix(PREFIX), scope)
    sources, node = find_node(sources, reference, scope.at)
    return Impact(sources).of_node(node, scope)


def impact_of_change(
    sources: Sources, reference: str, change: ChangeKind, scope: Scope
) -> ImpactReport:
    """The impact of dropping, renaming or retyping a column."""
    sources, node = find_node(sources, reference, scope.at)
    return ImpactCheck(sources).of_column(node, change, scope)


def check_plans(
    sources: Sources, captured: Iterable[PlanOutline], job: str | None, scope: Scope
) -> CheckReport:
    """The impact of replacing current plans by captured ones; ``job`` (its id or
    ``<namespace>/<name>``, a known job): treat the captured plans as plans of this job.
    """
    if job is not None:
        node = job if identity.kind_of(job) == labels.JOB else f"job:{job}"
        sources, found = find_node(sources, node)
        row = sources.catalogue.jobs((found,))[0]
        name = (row.namespace, row.name)
        captured = [replace(one, job=row.id, job_name=name) for one in captured]
    return ImpactCheck(sources).of_plans(tuple(captured), scope)
