"""Protocols of the catalogue for rows of OpenLineage's events: runs, and facets over time.

A facet is atomic: at a time the newest one of a name is in force, and a deleted one counts as none.
Times are epoch milliseconds; ``at`` None is the end of time. Every call is bounded by its
arguments. Raises Unavailable.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from graph_model.facts import FacetRow, RunRow
from graph_model.stores.pages import Page

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Rows(Generic[_Row]):
    """Rows in order; ``cut``: there are more than the limit."""

    rows: tuple[_Row, ...]
    cut: bool


class RunRecords(Protocol):
    """Runs, ended or not."""

    def of_subjects(self, subjects: Collection[str]) -> tuple[RunRow, ...]:
        """The runs of these subjects, by id: one for each subject, for a moment two while a run is
        projected anew.
        """

    def called(self, run_ids: Collection[str], scope: str | None = None) -> tuple[RunRow, ...]:
        """The runs with these client's ids, in one capture scope or in all (None); by id."""

    def first_of_runs(self, runs: Collection[str]) -> tuple[RunRow, ...]:
        """Per run vertex the run that started first, by id: a Spark application shares its vertex
        with its commands, and starts before them.
        """

    def below(self, run_ids: Collection[str], scope: str | None, limit: int) -> Rows[RunRow]:
        """The runs whose parent is one of these, in one capture scope or all (None), by start."""

    def of_job(self, job: str, at: int | None, limit: int) -> Rows[RunRow]:
        """The newest runs of a job that had started at or before ``at``, newest first."""


class FacetRecords(Protocol):
    """Facets of datasets, jobs, logical plans and runs."""

    def newest(self, entities: Collection[str], kind: str, at: int | None) -> tuple[FacetRow, ...]:
        """Per entity and name the newest facet of a kind, or its deletion; by entity and name.

        Of several at one time it is the one with the greatest (subject, digest).
        """

    def checks(self, entities: Collection[str], at: int | None) -> tuple[FacetRow, ...]:
        """Per entity and check the rows of its newest time, unless they are older than the newest
        deletion of all checks of the entity.
        """

    def recent(
        self, entity: str, kind: str, name: str, at: int | None, limit: int
    ) -> tuple[FacetRow, ...]:
        """The newest facets of one name, newest first; the cost depends on the limit alone."""

    def history(
        self,
        entity: str,
        *,
        kind: str | None = None,
        name: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[FacetRow]:
        """Newest first; checks and readers' schemas are no facets. A foreign cursor raises
        InvalidReference.
        """

    def bodies(self, digests: Collection[str]) -> dict[str, str]:
        """Per digest the facet's content as JSON."""
