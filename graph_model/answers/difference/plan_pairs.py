"""Two plans, compared by their documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from graph_model.answers.difference.plan import PlanDifference, compare_plans
from graph_model.answers.plans.pages import PlanPage, plan
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound

_PAGES_KEPT: Final = 4


class PlanPairs:
    """Plans compared in sequence: the pages of the last few are kept. Raises NotFound."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._pages: dict[str, PlanPage] = {}

    def compare(self, before: str, after: str, *, layout: bool = False) -> PlanDifference:
        """Compare two plans, by any id that ``/graph/plans/<id>`` accepts; each must be visible."""
        return compare_plans(self._page(before), self._page(after), layout=layout)

    def summary(self, before: str, after: str) -> tuple[str, ...] | None:
        """A short summary of the changes between two plans; None where one has no document."""
        try:
            return self.compare(before, after).summary
        except NotFound:
            return None

    def _page(self, plan_id: str) -> PlanPage:
        """The page of one plan; the last few are kept, because versions are
        compared in sequence.
        """
        if plan_id not in self._pages:
            strict = replace(self._sources, opens_hidden=False)
            page = plan(strict, plan_id, at=None, document=False, layout=False)
            self._pages[plan_id] = page
            if len(self._pages) > _PAGES_KEPT:
                del self._pages[next(iter(self._pages))]
        return self._pages[plan_id]
