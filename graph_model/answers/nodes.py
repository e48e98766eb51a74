"""The rows and names of nodes that several answers show; hidden ones have no name."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graph_model import identity
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.facts import DatasetRow, JobRow, NameRow
from graph_model.lineage.history.history import History
from graph_model.lineage.history.read_rule import END
from graph_model.picture.view import (
    DatasetReference,
    JobReference,
    dataset_reference,
    job_reference,
)
from graph_model.stores.catalogue import Catalogue


def job_row(sources: Sources, job: str) -> JobRow:
    rows = sources.catalogue.jobs((job,))
    if not rows:
        raise NotFound("job", job)
    return rows[0]


def dataset_row(sources: Sources, dataset: str) -> DatasetRow:
    rows = sources.catalogue.datasets((dataset,))
    if not rows:
        raise NotFound("dataset", dataset)
    return rows[0]


def job_references(sources: Sources, ids: Collection[str]) -> dict[str, JobReference]:
    """By id the names of these jobs; unknown and hidden ones are left out."""
    shown = set(ids) - sources.hidden - {""}
    return {row.id: job_reference(row) for row in sources.catalogue.jobs(shown)} if shown else {}


def dataset_references(sources: Sources, ids: Collection[str]) -> dict[str, DatasetReference]:
    """By id the names of these datasets; unknown and hidden ones are left out."""
    shown = set(ids) - sources.hidden - {""}
    rows = sources.catalogue.datasets(shown) if shown else ()
    return {row.id: dataset_reference(row) for row in rows}


def catalog_names(
    sources: Sources, history: History, datasets: Collection[str], at: int | None
) -> dict[str, list[str]]:
    named = {dataset for dataset, found in history.names.names_of(datasets).items() if found}
    moment = END if at is None else at
    observed: Sequence[NameRow] = sources.catalogue.names_of(named, at)
    stood = history.names.locate((row.name, moment) for row in observed)
    seen = [row for row in observed if row.name != row.location == stood[row.name, moment]]
    called = dataset_references(sources, {row.name for row in seen})
    uris = {key: one.uri for key, one in called.items()}
    names: dict[str, list[str]] = {}
    for row in seen:
        if row.name in uris and uris[row.name] not in names.setdefault(row.location, []):
            names[row.location].append(uris[row.name])
    return {location: sorted(found) for location, found in names.items()}


def location_of(catalogue: Catalogue, dataset: str, at: int | None) -> str:
    """The location of a catalog name at the time; any other dataset itself."""
    return catalogue.location_of(dataset, at) or dataset


def located_column(sources: Sources, column: str, at: int | None) -> str:
    """The column at the location of its table at the time."""
    rows = sources.catalogue.columns((column,))
    return (
        identity.column_id(location_of(sources.catalogue, rows[0].dataset, at), rows[0].path)
        if rows
        else column
    )
