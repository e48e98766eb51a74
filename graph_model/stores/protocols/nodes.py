"""Protocols of the catalogue for jobs, datasets, columns and plans by their ids and names."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from graph_model.facts import (
    ColumnRow,
    DatasetRow,
    ExecutionPlanRow,
    ExecutionRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
    RenameRow,
    SchemaRow,
)


class Surroundings(NamedTuple):
    """Where to look for datasets that may share files with another one: at the ``folder`` with this
    id, or where URIs of a ``scope`` begin with ``beneath``.
    """

    folder: str = ""
    scope: str = ""
    beneath: str = ""


class NodeLookup(Protocol):
    """Rows by their ids and names. Questions by ids return mappings by id."""

    def datasets(self, ids: Collection[str]) -> tuple[DatasetRow, ...]: ...

    def columns(self, ids: Collection[str]) -> tuple[ColumnRow, ...]: ...

    def fields(self, columns: Collection[tuple[str, str]]) -> tuple[ColumnRow, ...]:
        """The columns nested in these (dataset, path): ``a.b`` and ``a.b.c`` in ``a``."""

    def columns_of(self, datasets: Collection[str], limit: int) -> tuple[ColumnRow, ...]:
        """The columns that these datasets ever had, by (dataset, path); the first ``limit``."""

    def jobs(self, ids: Collection[str]) -> tuple[JobRow, ...]: ...

    def job_ids(self, after: str, limit: int) -> tuple[str, ...]:
        """The ids of jobs that come after this text, in order."""

    def logical_plans(self, ids: Collection[str]) -> tuple[LogicalPlanRow, ...]: ...

    def execution_plans(
        self,
        *,
        plan_id: str | None = None,
        id: str | None = None,
        logical_plan: str | None = None,
        limit: int = 100,
    ) -> tuple[ExecutionPlanRow, ...]:
        """Exactly one criterion; newest content first (by their latest execution, then id)."""

    def schemas(self, ids: Collection[str]) -> tuple[SchemaRow, ...]: ...

    def executions_of(self, ids: Collection[str]) -> tuple[ExecutionRow, ...]:
        """The executions that exist among these ids, by id."""

    def datasets_by_uri(self, uri: str) -> tuple[DatasetRow, ...]:
        """All scopes that know this canonical URI, ordered by scope."""

    def datasets_around(
        self, asked: Collection[Surroundings], most: int
    ) -> dict[Surroundings, tuple[DatasetRow, ...]]:
        """Per surroundings the datasets there: the folder and the patterns whose first wildcard is
        right below it, or the datasets of the scope whose URI begins with the text.

        Of more than ``most`` patterns or URIs some are left out, but ``most + 1`` stay.
        """

    def job_by_name(self, namespace: str, name: str) -> JobRow | None: ...

    def logical_plans_of(self, jobs: Collection[str]) -> tuple[LogicalPlanRow, ...]:
        """Every logical plan of these jobs: as many as there are."""

    def reading_plans(self, jobs: Collection[str], limit: int) -> dict[str, tuple[str, ...]]:
        """Per job the ids of its logical plans that write nothing, in order; the first ``limit``.

        A job without one is left out.
        """


class CatalogNames(Protocol):
    """The present and former names of a dataset: catalog names and renames."""

    def names_of(self, locations: Collection[str], at: int | None) -> tuple[NameRow, ...]:
        """Names observed for these locations (newest observation of each name)."""

    def location_of(self, name: str, at: int | None) -> str | None:
        """The location of a name: last observed at or before ``at``, else the first."""

    def locations_of(self, moments: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """``location_of`` for many (name, at) at once; texts that are no name are left out."""

    def names_around(self, datasets: Collection[str]) -> frozenset[tuple[str, str]]:
        """Every (name, location) ever observed for these datasets and for the names that ever stood
        for them. A name without servers is among them while only one location has it.
        """

    def renames_of(self, datasets: Collection[str], at: int | None) -> tuple[RenameRow, ...]:
        """Per dataset the newest rename away from it and the newest to it, at or before ``at``."""

    def renames_by(self, executions: Collection[str]) -> tuple[RenameRow, ...]:
        """The renames that these executions made."""
