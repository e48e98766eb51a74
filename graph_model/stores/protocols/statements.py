"""Protocols of the catalogue for people's statements, and facets of runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from graph_model.facts import CommandRow, DeclarationRow


@dataclass(frozen=True, slots=True, order=True)
class RunFacet:
    """At ``at`` a run of a job wrote a dataset; the run has this facet, by name and digest."""

    target: str
    job: str
    at: int
    name: str
    digest: str


class StatementLookup(Protocol):
    """Statements and orders of people, and facets of runs."""

    def commands(self, kind: str) -> tuple[CommandRow, ...]:
        """All commands of this kind, by (at, id)."""

    def commands_after(
        self, kind: str, row: CommandRow | None, limit: int
    ) -> tuple[CommandRow, ...]:
        """The first commands of this kind that follow this one (None: all), by (at, id)."""

    def declarations(self, node: str | None = None) -> tuple[DeclarationRow, ...]:
        """Declarations (of this job or dataset, by id), by (declared_at, id, event)."""

    def run_facets(
        self, targets: Collection[str], names: Collection[str], at: int | None
    ) -> tuple[RunFacet, ...]:
        """Per (target, logical plan) these facets of the newest run that wrote the target, or
        failed to, at or before ``at``; a run without such facets is left out.
        """
