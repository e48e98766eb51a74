"""The rows of logical plans, each read once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from graph_model.facts import LogicalPlanRow
from graph_model.gaps import SUBQUERY
from graph_model.lineage.structure import StructureCache
from graph_model.stores.protocols import Catalogue, SuccessfulWrite


class PlanRows:
    """Rows from one catalogue, kept for the life of the object.

    ``known`` keeps them for later questions; a plan's id determines its row.
    """

    def __init__(
        self, catalogue: Catalogue, known: StructureCache[str, LogicalPlanRow] | None = None
    ) -> None:
        self._catalogue = catalogue
        self._known = known
        self._rows: dict[str, LogicalPlanRow] = {}
        self._jobs: dict[str, str] = {}  # logical plan that has written -> its job

    def rows(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        """The rows of these logical plans, as far as known."""
        new = set(ids) - self._rows.keys()
        if new:
            self._rows |= self._read(new)
        return {plan: self._rows[plan] for plan in ids if plan in self._rows}

    def _read(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        kept = self._known.find(ids) if self._known else {}
        new = set(ids) - kept.keys()
        rows = {row.id: row for row in self._catalogue.logical_plans(new)} if new else {}
        if self._known:
            self._known.keep(rows)
        return {**kept, **rows}

    def jobs_of(self, plans: Collection[str]) -> dict[str, str]:
        """The jobs of these logical plans, as far as known."""
        unseen = self.rows(set(plans) - self._jobs.keys())
        seen = {plan: self._jobs[plan] for plan in plans if plan in self._jobs}
        return seen | {plan: row.job for plan, row in unseen.items()}

    def declared(self, plans: Collection[str]) -> frozenset[str]:
        """The logical plans among these that are declared and that no run has followed."""
        unseen = set(plans) - self._jobs.keys()  # a plan that wrote has run
        return self._catalogue.declared_plans(unseen) if unseen else frozenset()

    def note(self, rows: Iterable[SuccessfulWrite]) -> None:
        """Note the jobs of these executions' plans, so that they need no look-up."""
        self._jobs |= {row.logical_plan: row.job for row in rows}

    def incomplete(self, plans: Collection[str]) -> frozenset[str]:
        """The plans among these whose inputs are incomplete: they have a subquery known as text
        only.
        """
        found = self.rows(plans).values()
        listed = ((plan.id, json.loads(plan.gaps)) for plan in found if SUBQUERY in plan.gaps)
        return frozenset(
            plan for plan, gaps in listed if any(gap["code"] == SUBQUERY for gap in gaps)
        )
