"""Protocols of the catalogue for the rows for forget and prune."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from graph_model.facts import SchemaUseRow


class SupportLookup(Protocol):
    """Subjects, plans and documents behind the rows: for forget and prune."""

    def plan_ids(self, logical_plans: Collection[str]) -> frozenset[str]:
        """Every plan id with one of these logical plans, however many there are.

        For OpenLineage these are the subject keys, in the place of a plan id.
        """

    def uses(
        self, *, logical_plans: Collection[str] = (), datasets: Collection[str] = ()
    ) -> frozenset[SchemaUseRow]:
        """Every dataset that these logical plans read or write, and every logical plan that reads
        or writes these datasets: as many as there are.
        """

    def run_subjects(self, job: str) -> frozenset[str]:
        """The subjects of all of a job's RunRows, ended or not."""

    def supporters(self, logical_plan: str, limit: int = 2) -> tuple[str, ...]:
        """Subjects that support a logical plan, or another vertex or edge of this id."""

    def facets_in_use(self, digests: Collection[str]) -> frozenset[str]:
        """The digests among these that some FacetRow has."""

    def forgotten(self, hashes: Collection[str]) -> frozenset[str]:
        """The content hashes among these that a forget command names."""
