"""``/graph/runs/<id>``: one run by any of its ids, with its tree and its executions."""

from __future__ import annotations

from dataclasses import dataclass

from graph_model import identity, labels
from graph_model.answers.nodes import job_references
from graph_model.answers.runs.pages import RunView, run
from graph_model.answers.runs.trees import RunTree, RunTrees
from graph_model.answers.sources import Sources
from graph_model.answers.visibility import open_plan
from graph_model.errors import NotFound
from graph_model.picture.view import JobReference


@dataclass(frozen=True, slots=True)
class OpenLineageRun:
    """An OpenLineage run; ``ended`` None: it has no execution yet."""

    tree: RunTree
    ended: RunView | None


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run of Spline's agents, without parents or events of its own."""

    ended: RunView
    job: JobReference | None
    producer: str


def one_run(
    sources: Sources, run_id: str, *, at: int | None, now: int
) -> OpenLineageRun | ReportedRun:
    """By its opaque id, the id of its vertex or the client's id; ``now`` is epoch ms.

    Raises NotFound, also for a run of a hidden job unless ``sources`` opens hidden nodes.
    """
    try:
        tree = RunTrees(sources).tree(run_id, at, now)
    except NotFound:
        return _reported(sources, run_id)
    job = tree.branch.run.job
    return OpenLineageRun(
        tree, None if job is None else _ended(sources, job.id, tree.branch.run.run)
    )


def _ended(sources: Sources, job: str, vertex: str) -> RunView | None:
    try:
        return run(sources, job, vertex)
    except NotFound:
        return None


def _reported(sources: Sources, run_id: str) -> ReportedRun:
    rows = sources.catalogue.executions(run=run_id, limit=1).items
    if identity.kind_of(run_id) != labels.RUN or not rows:
        raise NotFound("run", run_id)
    opened = open_plan(sources, {rows[0].job}, run_id, "run")
    job = job_references(opened, {rows[0].job}).get(rows[0].job)
    return ReportedRun(run(sources, rows[0].job, run_id), job, rows[0].producer)
