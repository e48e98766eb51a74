"""Facets of a job or a dataset, in the words of its page.

A facet's body may be anything: a part with another shape than the specification's is left out here
and stays among the facets as it came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graph_model import naming

Bodies = Mapping[str, Mapping[str, Any]]
"""The facets in force, by name."""


@dataclass(frozen=True, slots=True)
class Owner:
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Tag:
    """``column`` "" where the tag is on the whole dataset."""

    key: str
    value: str
    source: str
    column: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """``language`` is the SQL's dialect, or the source's language."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """Where the source code is; "" for unknown parts. ``link`` is "" for a URL that no browser
    opens.
    """

    type: str
    url: str
    link: str
    repository: str
    path: str
    version: str
    branch: str
    tag: str


@dataclass(frozen=True, slots=True)
class JobDescription:
    """The description of a job in OpenLineage facets."""

    job_type: str
    integration: str
    processing_type: str
    owners: tuple[Owner, ...]
    tags: tuple[Tag, ...]
    documentation: str
    sql: Code | None
    source_code: Code | None
    source_code_location: CodeLocation | None


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    description: str
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class DatasetDescription:
    """The description of a dataset in OpenLineage facets. ``hierarchy`` outermost first, as ``type
    name``; ``storage`` is ``layer format``.
    """

    owners: tuple[Owner, ...]
    tags: tuple[Tag, ...]
    documentation: str
    dataset_type: str
    storage: str
    data_source: str
    catalog: str
    hierarchy: tuple[str, ...]


def describe_job(facets: Bodies) -> JobDescription:
    """The facets of a job in force at one time."""
    kind = facets.get("jobType", {})
    return JobDescription(
        job_type=_text(kind, "jobType"),
        integration=_text(kind, "integration"),
        processing_type=_text(kind, "processingType"),
        owners=_owners(facets),
        tags=_tags(facets),
        documentation=_text(facets.get("documentation", {}), "description"),
        sql=_code(facets.get("sql", {}), "dialect", "query"),
        source_code=_code(facets.get("sourceCode", {}), "language", "sourceCode"),
        source_code_location=_location(facets.get("sourceCodeLocation", {})),
    )


def describe_dataset(facets: Bodies) -> DatasetDescription:
    """The facets of a dataset in force at one time."""
    kind, storage = facets.get("datasetType", {}), facets.get("storage", {})
    source, catalog = facets.get("dataSource", {}), facets.get("catalog", {})
    return DatasetDescription(
        owners=_owners(facets),
        tags=tuple(tag for tag in _tags(facets) if not tag.column),
        documentation=_text(facets.get("documentation", {}), "description"),
        dataset_type=_words(_text(kind, "datasetType"), _text(kind, "subType")),
        storage=_words(_text(storage, "storageLayer"), _text(storage, "fileFormat")),
        data_source=_text(source, "name") or _text(source, "uri"),
        catalog=_words(*(_text(catalog, key) for key in ("framework", "type", "name"))),
        hierarchy=tuple(
            _words(_text(level, "type"), _text(level, "name"))
            for level in _items(facets.get("hierarchy", {}), "hierarchy")
        ),
    )


def describe_columns(facets: Bodies) -> dict[str, ColumnDescription]:
    """By column path: the descriptions in the schema, and the tags on the column."""
    texts = {
        _path(_text(field, "name")): _text(field, "description")
        for field in _items(facets.get("schema", {}), "fields")
        if _text(field, "name")
    }
    tags: dict[str, list[Tag]] = {}
    for tag in _tags(facets):
        if tag.column:
            tags.setdefault(_path(tag.column), []).append(tag)
    return {
        path: ColumnDescription(texts.get(path, ""), tuple(tags.get(path, ())))
        for path in sorted({*texts, *tags})
        if texts.get(path) or path in tags
    }


def _path(name: str) -> str:
    return naming.column_path((naming.fold(name),))


def _owners(facets: Bodies) -> tuple[Owner, ...]:
    listed = _items(facets.get("ownership", {}), "owners")
    found = [Owner(_text(one, "name"), _text(one, "type")) for one in listed]
    return tuple(owner for owner in found if owner.name)


def _tags(facets: Bodies) -> tuple[Tag, ...]:
    listed = _items(facets.get("tags", {}), "tags")
    found = [
        Tag(*(_text(one, key) for key in ("key", "value", "source", "field"))) for one in listed
    ]
    return tuple(tag for tag in found if tag.key)


def _code(body: Mapping[str, Any], language: str, text: str) -> Code | None:
    found = _text(body, text)
    return Code(_text(body, language), found) if found else None


def _location(body: Mapping[str, Any]) -> CodeLocation | None:
    url = _text(body, "url")
    keys = ("repoUrl", "path", "version", "branch", "tag")
    link = url if url.lower().startswith(("https://", "http://")) else ""
    found = CodeLocation(_text(body, "type"), url, link, *(_text(body, key) for key in keys))
    return found if url or found.repository else None


def _items(body: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    listed = body.get(key)
    return (item for item in (listed if isinstance(listed, list) else ()) if isinstance(item, dict))


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def _words(*parts: str) -> str:
    return " ".join(part for part in parts if part)
