"""Everything downstream of a change -> its effects, each with its reason. Pure.

A plan that uses a dropped or renamed column breaks, whether it takes the value or only filters,
joins, groups or sorts by it: Spark cannot analyse it any more, and plans on its results lose their
source. A column of another type may break its users.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from graph_model import labels
from graph_model.answers.impact.changes import Change, ChangeKind, Effect
from graph_model.answers.impact.report import ImpactItem, ImpactReport, order_of
from graph_model.lineage import ChainFlow

_WORST_FIRST: Final = (Effect.BREAKS, Effect.MAY_BREAK, Effect.NONE)
_VERBS: Final = {
    labels.IDENTITY: "copies",
    labels.TRANSFORMATION: "computes with",
    labels.AGGREGATION: "aggregates",
    labels.WINDOW: "orders or divides by",
    labels.CONDITIONAL: "decides by",
    labels.FILTER: "filters by",
    labels.JOIN: "joins by",
    labels.GROUP_BY: "groups by",
    labels.SORT: "sorts by",
    labels.MAY_READ: "may read",
}
_FURTHER: Final = {Effect.BREAKS: "breaks", Effect.MAY_BREAK: "may break"}


def fate(change: Change) -> str:
    """``is dropped``, ``is renamed to b``, ``changes from int to string``."""
    match change.kind:
        case ChangeKind.COLUMN_DROPPED:
            return "is dropped"
        case ChangeKind.COLUMN_RENAMED:
            return f"is renamed to {change.after}" if change.after else "is renamed"
        case ChangeKind.COLUMN_RETYPED:
            types = change.before is not None and change.after is not None
            return f"changes from {change.before} to {change.after}" if types else "is retyped"
        case ChangeKind.TARGET_MOVED:
            return f"is written to {change.after} instead"
        case _:
            return "changes"


def judge(report: ImpactReport, effect: Effect, fates: Mapping[str, str]) -> ImpactReport:
    """The report with a verdict on every item; ``fates`` gives the change of each start."""
    items = tuple(
        replace(item, verdict=_effect_on(item, effect).value, reason=_reason(item, effect, fates))
        for item in report.items
    )
    return replace(report, items=items, verdict=worst(_effect_on(i, effect) for i in items).value)


def _effect_on(item: ImpactItem, effect: Effect) -> Effect:
    """A reader that may read the column may break, if it reads it. What only former plans reached
    runs no more: nothing of it breaks.
    """
    if item.flow == ChainFlow.PAST:
        return Effect.NONE
    uncertain = item.how == labels.MAY_READ and effect == Effect.BREAKS
    return Effect.MAY_BREAK if uncertain else effect


def _reason(item: ImpactItem, effect: Effect, fates: Mapping[str, str]) -> str:
    """``report joins by daily#customer, which is dropped``."""
    at = len(item.path) - (2 if item.kind == labels.JOB else 3)
    used, job = item.path[at], item.path[at + 1]
    if item.flow == ChainFlow.PAST:
        return f"a former plan of {job.label} read {used.label}; its newest run did not"
    becomes = fates.get(used.id, "changes") if at == 0 else _FURTHER[effect]
    verb = _VERBS.get(item.how or "", "uses" if item.how else "reads")
    return f"{job.label} {verb} {used.label}, which {becomes}"


def worst(effects: Iterable[Effect]) -> Effect:
    """The worst of these; NONE for none."""
    found = set(effects)
    return next((effect for effect in _WORST_FIRST if effect in found), Effect.NONE)


def join_reports(reports: Sequence[ImpactReport]) -> ImpactReport:
    """Several reports as one: an item in two of them keeps the worse verdict, then the shorter
    path.
    """
    items = [item for report in reports for item in report.items]
    items.sort(key=_order)
    kept: dict[str, ImpactItem] = {}
    for item in items:
        kept.setdefault(item.id, item)
    return replace(
        reports[0],
        starts=tuple(dict.fromkeys(start for report in reports for start in report.starts)),
        items=tuple(kept.values()),
        depth_reached=max(report.depth_reached for report in reports),
        folded=any(report.folded for report in reports),
        partial=next((report.partial for report in reports if report.partial), None),
        hidden=max(report.hidden for report in reports),
        verdict=worst(Effect(report.verdict or Effect.NONE) for report in reports).value,
    )


def _order(item: ImpactItem) -> tuple[int, tuple[int, int, str, str, str]]:
    return _WORST_FIRST.index(Effect(item.verdict or Effect.NONE)), order_of(item)
