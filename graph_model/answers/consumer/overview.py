"""An execution's overview: its plan, its reads and writes, and lineage beyond them.

Nodes are data sources and plans; a plan represents all its runs in an answer. Depth counts plans
along a chain: the execution's own is 1, and 0 is its output alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from graph_model.facts import ExecutionPlanRow
from graph_model.lineage import Partial, PlanUse


@dataclass(frozen=True, slots=True)
class SourceNode:
    id: str
    uri: str


@dataclass(frozen=True, slots=True)
class PlanNode:
    """``system`` and ``agent`` are ``name version``; ``agent`` None where it is not known."""

    id: str
    name: str
    system: str
    agent: str | None


@dataclass(frozen=True, slots=True)
class Overview:
    """``depth_computed`` is -1 where no plan is shown."""

    timestamp: int
    application_id: str
    target: str
    sources: tuple[SourceNode, ...]
    plans: tuple[PlanNode, ...]
    edges: tuple[tuple[str, str], ...]
    depth_requested: int
    depth_computed: int
    partial: Partial | None


def together(uses: Iterable[PlanUse]) -> tuple[PlanUse, ...]:
    """Each plan once, with the datasets of all its uses."""
    found: dict[str, tuple[PlanUse, set[str], set[str]]] = {}
    for use in uses:
        _, sources, targets = found.setdefault(use.logical_plan, (use, set(), set()))
        sources.update(use.sources)
        targets.update(use.targets)
    return tuple(
        PlanUse(use.logical_plan, use.job, use.mode, tuple(sorted(sources)), tuple(sorted(targets)))
        for use, sources, targets in (found[key] for key in sorted(found))
    )


def upstream_levels(
    sources: Iterable[str], uses: Collection[PlanUse], hidden: Collection[str]
) -> int:
    """The number of levels of plans before these sources, up to the last plan of a job that is not
    ``hidden`` (ids); a plan counts at its shortest distance.
    """
    steps = [(use.logical_plan, use.targets, use.sources) for use in uses]
    return _levels(sources, steps, {use.logical_plan for use in uses if use.job in hidden})


def downstream_levels(target: str, uses: Collection[PlanUse], hidden: Collection[str]) -> int:
    """As ``upstream_levels``, of the plans after this dataset."""
    steps = [(use.logical_plan, use.sources, use.targets) for use in uses]
    return _levels((target,), steps, {use.logical_plan for use in uses if use.job in hidden})


def _levels(
    start: Iterable[str],
    steps: Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]],
    unseen: Collection[str],
) -> int:
    """Steps are (plan, datasets on the near side, datasets on the far side)."""
    beside: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for plan, near, far in steps:
        for dataset in near:
            beside.setdefault(dataset, []).append((plan, far))
    kept: set[str] = set()
    reached = set(start)
    frontier = set(reached)
    levels = shown = 0
    while frontier:
        found = [step for dataset in frontier for step in beside.get(dataset, ())]
        new = {plan for plan, _ in found} - kept
        levels += bool(new)
        shown = levels if new.difference(unseen) else shown
        kept |= new
        frontier = {dataset for _, far in found for dataset in far} - reached
        reached |= frontier
    return shown


def plan_edges(uses: Iterable[PlanUse], plan_ids: Mapping[str, str]) -> dict[tuple[str, str], None]:
    """Source -> plan -> target; ``plan_ids`` are the producers' ids of logical plans."""
    edges: dict[tuple[str, str], None] = {}
    for use in uses:
        if use.logical_plan in plan_ids:
            plan = plan_ids[use.logical_plan]
            edges |= dict.fromkeys((source, plan) for source in use.sources)
            edges |= dict.fromkeys((plan, target) for target in use.targets)
    return edges


def plan_node(row: ExecutionPlanRow) -> PlanNode:
    """The node of a plan whose document is known."""
    agent = None if row.agent == "unknown" else row.agent
    return PlanNode(row.plan_id, row.name, row.system, agent)
