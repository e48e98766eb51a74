"""One changed column, or the captured plans of a changed job, compared with the graph.

captured documents -> translation -> outlines ──┐
the job's plans in the graph -> outlines ───────┴-> changes -> everything downstream -> verdicts
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from graph_model import identity, labels
from graph_model.answers.impact.changes import Change, ChangeKind, Effect
from graph_model.answers.impact.comparison import compare, pair
from graph_model.answers.impact.outline import PlanOutline, known_outlines
from graph_model.answers.impact.report import Impact, ImpactReport, Scope
from graph_model.answers.impact.verdicts import fate, join_reports, judge
from graph_model.answers.nodes import location_of
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidInput
from graph_model.facts import Vertex
from graph_model.lineage import HUB_LIMIT, holders
from graph_model.naming.schemas import same_nesting
from graph_model.picture.view import iso
from graph_model.stores.graph import Direction

_EXECUTIONS_OF_A_RUN = 1_000


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """One captured plan. ``plan`` is the logical plan compared with it; None: the plan is new."""

    job: str
    target: str
    plan: str | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """``missing``: URIs that the job's last run wrote and that no captured plan writes.

    ``unmet``: known jobs of which no captured plan writes an output, or reads an input where an
    output has moved. Their places were probably not mapped, so a verdict says nothing about them.
    """

    plans: tuple[PlanCheck, ...]
    missing: tuple[str, ...]
    unmet: tuple[str, ...]
    effect: Effect
    impact: ImpactReport


class ImpactCheck:
    """Checks changes against one graph and one catalogue.

    A hidden plan is treated as unknown: a captured plan that replaces it counts as new.
    """

    def __init__(self, sources: Sources) -> None:
        self._graph = sources.graph
        self._catalogue = sources.catalogue
        self._impact = Impact(sources)
        self._hidden = sources.hidden

    def of_column(self, column: str, kind: ChangeKind, scope: Scope) -> ImpactReport:
        """The impact of dropping, renaming or retyping a column (an id).

        The fields of a struct are included. Raises InvalidInput for an id that is not a column's.
        """
        if identity.kind_of(column) != labels.COLUMN:
            raise InvalidInput("change: expected a column as node")
        change = Change(kind, column)
        starts = self._with_fields((column,)).get(column, frozenset())
        fates = dict.fromkeys(starts, fate(change))
        return judge(self._impact.of_columns(starts, scope), change.effect, fates)

    def of_plans(self, captured: Collection[PlanOutline], scope: Scope) -> CheckReport:
        """The impact of replacing the plans that their jobs run now by these plans."""
        pairs: list[tuple[PlanOutline, PlanOutline | None]] = []
        missing: list[str] = []
        unmet: list[str] = []
        for job in sorted({plan.job for plan in captured}):
            new = [self._shown(plan) for plan in captured if plan.job == job]
            current = self._current(job, new, scope.at)
            found = pair(new, current)
            pairs += found
            taken = {old.logical_plan for _, old in found if old is not None}
            missing += [old.target_uri for old in current if old.logical_plan not in taken]
            if current and not any(old and _meets(one, old) for one, old in found):
                unmet.append("/".join(new[0].job_name))
        checks = [(new, old, compare(old, new) if old else ()) for new, old in pairs]
        impact = self._impact_of([(old, changes) for _, old, changes in checks if old], scope)
        return CheckReport(
            plans=tuple(
                PlanCheck(
                    "/".join(new.job_name), new.target_uri, old.logical_plan if old else None,
                    changes,
                )
                for new, old, changes in checks
            ),
            missing=tuple(sorted(set(missing))),
            unmet=tuple(sorted(unmet)),
            effect=Effect(impact.verdict or Effect.NONE),
            impact=impact,
        )  # fmt: skip

    def _shown(self, plan: PlanOutline) -> PlanOutline:
        inputs = {key: uri for key, uri in plan.inputs.items() if key not in self._hidden}
        return replace(plan, inputs=inputs)

    def _current(
        self, job: str, captured: Collection[PlanOutline], at: int | None
    ) -> list[PlanOutline]:
        """The plans that a job runs now, hidden ones left out."""
        plans = self._plans_of_last_run(job, {plan.target for plan in captured}, at)
        return [
            self._shown(plan)
            for plan in known_outlines(plans, self._graph, self._catalogue)
            if self._hidden.isdisjoint((plan.job, plan.target))
        ]

    def _plans_of_last_run(
        self, job: str, targets: Collection[str], at: int | None
    ) -> frozenset[str]:
        """The logical plans of the job's last good run, and its last plan for each of these
        targets.
        """
        plans: set[str] = set()
        last = self._catalogue.executions(job=job, state=labels.COMPLETED, at=at, limit=1).items
        if last:
            page = self._catalogue.executions(
                job=job, run=last[0].run, state=labels.COMPLETED, at=at, limit=_EXECUTIONS_OF_A_RUN
            )
            plans |= {row.logical_plan for row in page.items if row.kind == labels.WRITE_KIND}
        written = {row.target for row in self._catalogue.logical_plans(plans)}
        for target in set(targets) - written:
            page = self._catalogue.executions(
                job=job, target=target, state=labels.COMPLETED, at=at, limit=1
            )
            plans |= {row.logical_plan for row in page.items}
        return frozenset(plans)

    # --- impact downstream of the changes --------------------------------------------------------

    def _impact_of(
        self, changed: Sequence[tuple[PlanOutline, tuple[Change, ...]]], scope: Scope
    ) -> ImpactReport:
        reports = [self._nothing(scope)]  # even without changes: it carries asOf
        for effect in (Effect.BREAKS, Effect.MAY_BREAK):
            fates: dict[str, str] = {}
            for plan, changes in changed:
                fates |= self._fates(plan, _of_columns(changes, effect), scope.at)
            if fates:
                reports.append(judge(self._impact.of_columns(fates.keys(), scope), effect, fates))
        for plan, changes in changed:
            moved = [change for change in changes if change.kind == ChangeKind.TARGET_MOVED]
            reports += [self._moved(plan, change, scope) for change in moved]
        return join_reports(reports)

    def _nothing(self, scope: Scope) -> ImpactReport:
        as_of = iso(self._catalogue.newest_event(scope.at))
        return ImpactReport((), (), as_of, scope.depth, 0, False, None, 0)

    def _moved(self, plan: PlanOutline, change: Change, scope: Scope) -> ImpactReport:
        place = location_of(self._catalogue, plan.target, scope.at)
        report = self._impact.of_node(place, replace(scope, columns=False))
        return judge(report, change.effect, {place: fate(change)})

    def _fates(
        self, plan: PlanOutline, changes: Sequence[Change], at: int | None
    ) -> dict[str, str]:
        """Per known column the effect of these changes on it; of two changes
        the later one counts.
        """
        if not changes:
            return {}
        place = location_of(self._catalogue, plan.target, at)
        asked = [(identity.column_id(place, change.subject), change) for change in changes]
        known = self._with_fields({column for column, _ in asked})
        fates: dict[str, str] = {}
        for column, change in asked:
            changed = known.get(column, frozenset())
            fates |= dict.fromkeys(
                changed & {column} if _by_fields(change) else changed, fate(change)
            )
        return fates

    def _with_fields(self, columns: Collection[str]) -> dict[str, frozenset[str]]:
        """Per known column among these, the column itself and its known fields."""
        tops = self._graph.vertices(columns)
        datasets = {str(vertex.value("dataset_id")) for vertex in tops}
        held = self._graph.edges(datasets, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        inside = _inside(self._graph.vertices({edge.in_id for edge in held.edges}))
        return {top.id: frozenset({top.id, *inside.get(_name(top), ())}) for top in tops}


def _meets(captured: PlanOutline, known: PlanOutline) -> bool:
    """Whether the two have a place in common: the target, else (it has moved) an input."""
    same_target = captured.target == known.target
    return same_target or not captured.inputs.keys().isdisjoint(known.inputs)


def _of_columns(changes: Iterable[Change], effect: Effect) -> list[Change]:
    """The changes with this effect on columns; a moved target is treated separately."""
    return [
        change
        for change in changes
        if change.effect == effect and change.kind != ChangeKind.TARGET_MOVED
    ]


def _by_fields(change: Change) -> bool:
    """Whether a struct has another type because of fields that are listed as changes themselves."""
    if change.kind != ChangeKind.COLUMN_RETYPED or change.before is None or change.after is None:
        return False
    return same_nesting(change.before, change.after)


def _name(column: Vertex) -> tuple[str, str]:
    return str(column.value("dataset_id")), str(column.value("path"))


def _inside(columns: Iterable[Vertex]) -> dict[tuple[str, str], set[str]]:
    """Per (dataset, path) of a struct the ids of its nested columns among these."""
    found: dict[tuple[str, str], set[str]] = {}
    for column in columns:
        dataset, path = _name(column)
        for holder in holders(path)[1:]:
            found.setdefault((dataset, holder), set()).add(column.id)
    return found
