"""Facets: all are kept as they came; those with lineage are read into values.

A facet is atomic. Its ``digest`` covers its content without ``_producer`` and ``_schemaURL``, so
the nine events that Spark sends for one query, all with the same column lineage, hold one value:
a facet that was read once is found again by its digest (:func:`read_once`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import itemgetter
from threading import Lock
from typing import Any, Final, TypeVar

from cachetools import LRUCache, cached

from graph_model import identity, labels
from graph_model.errors import InvalidDocument
from graph_model.facts import Version
from graph_model.json_fields import (
    JsonObject,
    join,
    optional_flag,
    optional_object,
    optional_text,
    read_items,
    read_members,
    read_object,
    read_text,
)
from graph_model.producers.elements import version_of_text

_TIME: Final = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})[Tt ](?P<clock>\d{2}:\d{2}(?::\d{2})?)"
    r"(?:[.,](?P<fraction>\d{1,12}))?"
    r"\s?(?P<zone>[Zz]|UTC|[+-]\d{2}(?::?\d{2})?)?(?:\[[\w/+:\-]{1,64}\])?"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = 1_000_000_000
_END: Final = 253_402_300_800 * _SECOND
"""The year 10000, which no date of a day can name."""


def read_nanoseconds(text: str) -> int | None:
    """Nanoseconds since 1970; without a zone the time is UTC. None for a text that is no time up to
    the year 9999.

    2026-03-01T10:00:00.98Z, 2026-03-01T20:00:00+10:00, 2026-03-01T10:00:00.123456789Z.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    try:
        clock = match["clock"] if match["clock"].count(":") == 2 else match["clock"] + ":00"
        seconds = datetime.fromisoformat(f"{match['date']}T{clock}+00:00") - _EPOCH
    except ValueError:
        return None
    seconds -= _offset(match["zone"] or "Z")
    fraction = (match["fraction"] or "0")[:9].ljust(9, "0")
    total = (seconds.days * 86_400 + seconds.seconds) * _SECOND + int(fraction)
    return total if 0 <= total < _END else None


def _offset(zone: str) -> timedelta:
    if zone.upper() in ("Z", "UTC"):
        return timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    distance = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -distance if zone[0] == "-" else distance


DECLARATION_FACET: Final = "headwater_declaration"
EXPOSURES: Final = "dbt_exposures"
DBT_MODEL: Final = "dbt_model"
_MILLISECOND: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class DeclarationFacet:
    """The author, the reason and the time (epoch ms) of a declaration; it holds from the event's
    time on.
    """

    id: str
    author: str
    note: str
    declared_at: int


def read_declaration_facet(body: JsonObject, path: str) -> DeclarationFacet:
    """Raises InvalidDocument naming the field."""
    declared = read_nanoseconds(read_text(body, "declaredAt", path))
    if declared is None:
        raise InvalidDocument(f"{path}.declaredAt", "an ISO 8601 time from 1970 to 9999")
    return DeclarationFacet(
        read_text(body, "id", path),
        read_text(body, "author", path),
        optional_text(body, "note", path),
        declared // _MILLISECOND,
    )


_READINGS_BYTES: Final = 64_000_000
"""Enough for the facets of some thousands of jobs a night; with less, every
facet is parsed anew.
"""
_READING_BYTES: Final = 500
_SPREAD: Final = 4
"""Bytes of a parsed value per character of its facet."""
_LONGEST_RUN_ID: Final = 500  # keys of a database index, which bounds their length
_LONGEST_FACET_NAME: Final = 200
_MOST_SET_ASIDE: Final = 20
ENVELOPE: Final = frozenset({"_producer", "_schemaURL", "_deleted"})
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Facet:
    """``body`` without the envelope; ``value`` is the result of :data:`READERS`, None without a
    reader.
    """

    name: str
    body: JsonObject
    digest: str
    deleted: bool = False
    value: Any = None


Facets = Mapping[str, Facet]


# --- the values of facets ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Transformation:
    """``type`` DIRECT, INDIRECT or empty; ``subtype`` any word, in upper case; "" for none."""

    type: str
    subtype: str
    description: str
    masking: bool


@dataclass(frozen=True, slots=True)
class SourceField:
    """A column of a dataset, as a source of another one."""

    namespace: str
    name: str
    field: str
    transformations: tuple[Transformation, ...]


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """``fields`` by output column, sorted; the columns in ``dataset`` decide over all rows."""

    fields: tuple[tuple[str, tuple[SourceField, ...]], ...]
    dataset: tuple[SourceField, ...]


@dataclass(frozen=True, slots=True)
class LineageSource:
    """A source in a lineage facet. ``type`` DATASET or JOB; a JOB with an empty name is the event's
    own. ``field`` "" means the whole dataset.
    """

    type: str
    namespace: str
    name: str
    field: str
    transformations: tuple[Transformation, ...]


@dataclass(frozen=True, slots=True)
class LineageEntry:
    """A target with its sources. ``inputs`` None: not reported; (): none."""

    type: str
    namespace: str
    name: str
    inputs: tuple[LineageSource, ...] | None
    fields: tuple[tuple[str, tuple[LineageSource, ...]], ...]


@dataclass(frozen=True, slots=True)
class SchemaField:
    """A column; ``type`` as the client spells it; ``fields`` below a struct, array or map."""

    name: str
    type: str | None
    description: str
    fields: tuple[SchemaField, ...]


@dataclass(frozen=True, slots=True)
class Symlink:
    """Another name of a dataset. ``type`` TABLE or LOCATION from Spark, DB_TABLE from others."""

    namespace: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """``change`` in upper case; ``previous`` (namespace, name) on RENAME."""

    change: str
    previous: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class RunReference:
    """``job_facets``: those of its job that the run below passes on (ParentRunFacet 1-2-0)."""

    run_id: str
    namespace: str
    name: str
    job_facets: Facets


@dataclass(frozen=True, slots=True)
class Parent:
    """The parent run, and the root run of the tree where reported."""

    parent: RunReference
    root: RunReference | None


_SNAPSHOT: Final = "COMPLETE_SNAPSHOT"
_PERIODIC: Final = "PERIODIC"
_HALF_A_DAY: Final = 12 * 3_600  # seconds


@dataclass(frozen=True, slots=True)
class JobType:
    """In upper case; ``content`` and ``trigger`` are eventContentMode and eventTrigger of
    emissionPattern, ``window`` is its windowDuration in seconds, 0 for none.
    """

    processing: str
    integration: str
    type: str
    content: str
    trigger: str
    window: int

    @property
    def is_snapshot(self) -> bool:
        """Whether each event repeats all that there is to say."""
        return self.content == _SNAPSHOT

    @property
    def has_windows(self) -> bool:
        """Whether each event is a whole account of the time since the last one."""
        return self.is_snapshot and self.trigger == _PERIODIC

    @property
    def is_heard_daily(self) -> bool:
        """Whether a day without an event says that the job has stopped: it missed two windows."""
        return self.has_windows and 0 < self.window <= _HALF_A_DAY


@dataclass(frozen=True, slots=True, order=True)
class DbtExposure:
    """A dashboard, notebook, ... that dbt's project declares as a reader of a dataset; ``type`` and
    ``url`` "" where the project has none.
    """

    unique_id: str
    type: str
    url: str

    def job_facets(self) -> Facets:
        """The facets of its job, as those of the harvester of dbt's artefacts."""
        kind = self.type.upper() or "EXPOSURE"
        body = {"processingType": "BATCH", "integration": "DBT", "jobType": kind}
        facets = [Facet("jobType", body, _digest_of(body), value=read_job_type(body, "jobType"))]
        if self.url:
            body = {"type": kind.lower(), "url": self.url}
            facets.append(Facet("sourceCodeLocation", body, _digest_of(body)))
        return {facet.name: facet for facet in facets}


@dataclass(frozen=True, slots=True)
class Subset:
    """Partitions that a subset condition lists, each as (key, value) pairs."""

    partitions: tuple[tuple[tuple[str, str | None], ...], ...]


# --- readers -------------------------------------------------------------------------------------


def _read_transformation(fields: JsonObject, path: str) -> Transformation:
    kind, how = optional_text(fields, "type", path), optional_text(fields, "subtype", path)
    description = optional_text(fields, "description", path)
    masking = optional_flag(fields, "masking", path)
    return Transformation(kind.strip().upper(), how.strip().upper(), description, masking)


def _read_source_field(fields: JsonObject, path: str) -> SourceField:
    namespace = read_text(fields, "namespace", path, empty=True)
    return SourceField(
        namespace,
        read_text(fields, "name", path, empty=bool(namespace)),
        read_text(fields, "field", path),
        read_items(fields, "transformations", path, _read_transformation),
    )


def _read_output_field(fields: JsonObject, path: str) -> tuple[SourceField, ...]:
    """The sources of an output field; the deprecated transformation of the whole field is used
    where a source has none.
    """
    sources = read_items(fields, "inputFields", path, _read_source_field)
    former = optional_text(fields, "transformationType", path).strip().upper()
    description = optional_text(fields, "transformationDescription", path)
    if not former and not description:
        return sources
    subtype = labels.IDENTITY if former == labels.IDENTITY else labels.TRANSFORMATION
    transformation = Transformation(labels.DIRECT, subtype, description, former == "MASKED")
    return tuple(
        source
        if source.transformations
        else SourceField(source.namespace, source.name, source.field, (transformation,))
        for source in sources
    )


def read_column_lineage(body: JsonObject, path: str) -> ColumnLineage:
    return ColumnLineage(
        read_members(body, "fields", path, _read_output_field),
        read_items(body, "dataset", path, _read_source_field),
    )


def read_agents_column_lineage(body: JsonObject, path: str) -> ColumnLineage:
    """That of Spline's agent from 2.3 on: the transformations of a source are the functions that
    it goes through, the innermost first, and none where it is copied. They make one.

    [expr.Generic: upper, expr.Alias: alias]  =>  TRANSFORMATION upper(…)
    """
    lineage = read_column_lineage(body, path)
    fields = tuple(
        (
            name,
            tuple(replace(each, transformations=_composed(each)) for each in sources if each.name),
        )
        for name, sources in lineage.fields
    )
    return replace(lineage, fields=fields)


_NO_FUNCTIONS: Final = ("alias", "aggregateexpression")


def _composed(source: SourceField) -> tuple[Transformation, ...]:
    how, text = labels.IDENTITY, ""
    for step in source.transformations:
        if step.subtype in labels.DIRECT_HOWS:
            how = max(how, step.subtype, key=labels.DIRECT_HOWS.index)
        name = step.description.rpartition(": ")[2]
        if name not in _NO_FUNCTIONS:
            text = f"{name}({text or '…'})"
    return (Transformation(labels.DIRECT, how, text, masking=False),)


def _read_kind(fields: JsonObject, path: str) -> str:
    kind = read_text(fields, "type", path).strip().upper()
    if kind not in ("DATASET", "JOB"):
        raise InvalidDocument(join(path, "type"), "DATASET or JOB")
    return kind


def _read_node(fields: JsonObject, path: str) -> tuple[str, str, str]:
    """(type, namespace, name); a job may leave out both names, for the event's own."""
    kind = _read_kind(fields, path)
    if kind == "JOB" and fields.get("name") is None:
        if fields.get("namespace") is not None:
            raise InvalidDocument(join(path, "name"), "a string beside the namespace, or neither")
        return kind, "", ""
    return kind, read_text(fields, "namespace", path, empty=True), read_text(fields, "name", path)


def _read_lineage_source(fields: JsonObject, path: str) -> LineageSource:
    return LineageSource(
        *_read_node(fields, path),
        optional_text(fields, "field", path),
        read_items(fields, "transformations", path, _read_transformation),
    )


def _read_inputs(fields: JsonObject, path: str) -> tuple[LineageSource, ...]:
    return read_items(fields, "inputs", path, _read_lineage_source)


def _read_target(node: tuple[str, str, str], fields: JsonObject, path: str) -> LineageEntry:
    inputs = None if fields.get("inputs") is None else _read_inputs(fields, path)
    return LineageEntry(*node, inputs, read_members(fields, "fields", path, _read_inputs))


def _read_entry(fields: JsonObject, path: str) -> LineageEntry:
    return _read_target(_read_node(fields, path), fields, path)


def read_job_lineage(body: JsonObject, path: str) -> tuple[LineageEntry, ...]:
    """They say all that flowed: a facet without the list is damaged, and does not say: nothing."""
    if body.get("entries") is None:
        raise InvalidDocument(join(path, "entries"), "a list")
    return read_items(body, "entries", path, _read_entry)


def read_dataset_lineage(body: JsonObject, path: str) -> LineageEntry:
    """The target is the dataset that carries the facet."""
    return _read_target(("DATASET", "", ""), body, path)


def _read_schema_field(fields: JsonObject, path: str) -> SchemaField:
    return SchemaField(
        read_text(fields, "name", path, empty=True),
        optional_text(fields, "type", path) or None,
        optional_text(fields, "description", path),
        read_schema(fields, path),
    )


def read_schema(fields: JsonObject, path: str) -> tuple[SchemaField, ...]:
    """Ordered by ``ordinal_position`` where every field has a distinct one."""
    listed = read_items(fields, "fields", path, _read_schema_field)
    places = [item.get("ordinal_position") for item in fields.get("fields") or ()]
    numbered = all(isinstance(place, int) and not isinstance(place, bool) for place in places)
    if not numbered or len(set(places)) != len(places):
        return listed
    return tuple(field for _, field in sorted(zip(places, listed, strict=True), key=itemgetter(0)))


def _read_symlink(fields: JsonObject, path: str) -> Symlink:
    return Symlink(
        optional_text(fields, "namespace", path),
        read_text(fields, "name", path),
        optional_text(fields, "type", path).strip().upper(),
    )


def read_symlinks(body: JsonObject, path: str) -> tuple[Symlink, ...]:
    return read_items(body, "identifiers", path, _read_symlink)


def read_lifecycle(body: JsonObject, path: str) -> Lifecycle:
    former = optional_object(body, "previousIdentifier", path)
    place = join(path, "previousIdentifier")
    previous = (
        (read_text(former, "namespace", place, empty=True), read_text(former, "name", place))
        if former
        else None
    )
    return Lifecycle(read_text(body, "lifecycleStateChange", path).strip().upper(), previous)


@dataclass(frozen=True, slots=True)
class DbtModel:
    """How dbt builds a table: ``table``, ``view``, ``incremental`` ...; "" where it is not said.

    ``full_refresh`` is the model's own setting, None where it has none: then the run's counts.
    """

    materialized: str
    full_refresh: bool | None


def read_dbt_model(body: JsonObject, _: str) -> DbtModel:
    """openlineage-dbt 1.54: the configuration of the model, on its datasets. Never refused."""
    config = body.get("config")
    config = config if isinstance(config, dict) else {}
    incremental = config.get("incremental")
    settings = incremental if isinstance(incremental, dict) else {}
    materialized = config.get("materialized")
    full_refresh = settings.get("full_refresh")
    return DbtModel(
        materialized.strip().lower() if isinstance(materialized, str) else "",
        full_refresh if isinstance(full_refresh, bool) else None,
    )


def read_dataset_version(body: JsonObject, _: str) -> Version | None:
    """None for a malformed one: no other fact depends on it."""
    return version_of_text(body.get("datasetVersion"))


_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)


def read_run_id(fields: JsonObject, path: str) -> str:
    """Any string, or a number: not every client sends the UUID that the specification requires. A
    UUID has one spelling, whatever case its client sends: RFC 9562, section 4.
    """
    value = fields.get("runId")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return str(value)
    run_id = read_text(fields, "runId", path).strip()
    if len(run_id) > _LONGEST_RUN_ID:
        raise InvalidDocument(join(path, "runId"), f"at most {_LONGEST_RUN_ID} characters")
    return spelled_run_id(run_id)


def is_uuid(run_id: str) -> bool:
    """With or without hyphens."""
    return _UUID.fullmatch(run_id) is not None


def spelled_run_id(run_id: str) -> str:
    """A UUID in lower case; any other id as it is."""
    return run_id.lower() if is_uuid(run_id) else run_id


def _read_run_reference(fields: JsonObject, path: str) -> RunReference:
    run = read_object(fields.get("run"), join(path, "run"))
    job = read_object(fields.get("job"), join(path, "job"))
    return RunReference(
        read_run_id(run, join(path, "run")),
        read_text(job, "namespace", join(path, "job"), empty=True),
        read_text(job, "name", join(path, "job")),
        read_facets("job", job, "facets", join(path, "job"), []),
    )


def read_parent(body: JsonObject, path: str) -> Parent:
    root = optional_object(body, "root", path)
    return Parent(
        _read_run_reference(body, path),
        _read_run_reference(root, join(path, "root")) if root else None,
    )


def read_job_type(body: JsonObject, path: str) -> JobType:
    emission = optional_object(body, "emissionPattern", path)
    place = join(path, "emissionPattern")
    return JobType(
        optional_text(body, "processingType", path).strip().upper(),
        optional_text(body, "integration", path).strip().upper(),
        optional_text(body, "jobType", path).strip().upper(),
        optional_text(emission, "eventContentMode", place).strip().upper(),
        optional_text(emission, "eventTrigger", place).strip().upper(),
        _seconds(emission.get("windowDuration")),
    )


def _seconds(window: object) -> int:
    """0 for an odd one: the kind of the job counts more than how often it reports."""
    return window if isinstance(window, int) and not isinstance(window, bool) else 0


def read_exposures(body: JsonObject, path: str) -> tuple[DbtExposure, ...]:
    """openlineage-dbt 1.54 names them on the datasets of a model that was built."""
    return read_items(body, "exposures", path, _read_exposure)


def _read_exposure(fields: JsonObject, path: str) -> DbtExposure:
    return DbtExposure(
        read_text(fields, "unique_id", path),
        optional_text(fields, "type", path).strip(),
        optional_text(fields, "url", path).strip(),
    )


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """The text of a job's query; ``dialect`` "" where the client does not say it.

    ``database`` and ``schema`` qualify names in it that have none: only our harvesters say them.
    """

    text: str
    dialect: str
    database: str = ""
    schema: str = ""


def read_sql(body: JsonObject, path: str) -> SqlQuery:
    """Never refused for its content: clients put other things than texts there."""
    del path
    said = (body.get(field) for field in ("query", "dialect", "database", "schema"))
    return SqlQuery(*(text if isinstance(text, str) else "" for text in said))


def read_statistics(body: JsonObject, path: str) -> Mapping[str, int | float]:
    """The numbers among the members."""
    statistics: dict[str, int | float] = {}
    for name in ("rowCount", "size", "fileCount"):
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidDocument(join(path, name), "a number")
        statistics[name] = value
    return statistics


def _read_subset(condition: str) -> Callable[[JsonObject, str], Subset]:
    def read(body: JsonObject, path: str) -> Subset:
        """Only a list of partitions names partitions; other conditions select rows."""
        tree = optional_object(body, condition, path)
        if optional_text(tree, "type", join(path, condition)).lower() != "partition":
            return Subset(())
        place = join(path, condition)
        return Subset(read_items(tree, "partitions", place, _read_partition))

    return read


def _read_partition(fields: JsonObject, path: str) -> tuple[tuple[str, str | None], ...]:
    dimensions = optional_object(fields, "dimensions", path)
    pairs: list[tuple[str, str | None]] = []
    for key, value in dimensions.items():
        if isinstance(value, dict | list):
            raise InvalidDocument(join(join(path, "dimensions"), key), "a scalar")
        pairs.append((key, _scalar_text(value)))
    return tuple(pairs)


def _scalar_text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


_AGENT: Final = "/spline-spark-agent/"
Reader = Callable[[JsonObject, str], Any]
#: The facets that translation reads, by kind of entity and name. Events of 2021 call ``parent``
#: ``parentRun``.
READERS: Final[Mapping[str, Mapping[str, Reader]]] = {
    "run": {"parent": read_parent, "parentRun": read_parent},
    "job": {
        "jobType": read_job_type,
        "lineage": read_job_lineage,
        "sql": read_sql,
        DECLARATION_FACET: read_declaration_facet,
    },
    "dataset": {
        "schema": read_schema,
        "columnLineage": read_column_lineage,
        "lineage": read_dataset_lineage,
        "symlinks": read_symlinks,
        "lifecycleStateChange": read_lifecycle,
        "version": read_dataset_version,
        EXPOSURES: read_exposures,
        DBT_MODEL: read_dbt_model,
    },
    "input": {"inputStatistics": read_statistics, "subset": _read_subset("inputCondition")},
    "output": {"outputStatistics": read_statistics, "subset": _read_subset("outputCondition")},
}


# --- all facets of an entity ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FacetReading:
    """``weight``: the approximate size of the value in bytes."""

    value: Any
    weight: int


@cached(
    LRUCache(_READINGS_BYTES, lambda reading: reading.weight),
    key=lambda facet, *_: facet,
    lock=Lock(),
    info=True,
)
def read_once(_facet: tuple[str, str, str], length: int, read: Callable[[], Any]) -> FacetReading:
    """The result of ``read`` for a facet, cached by (kind, name, digest); ``length``: characters of
    its JSON.

    An error of ``read`` is not cached: it names the place in the document.
    """
    return FacetReading(read(), _READING_BYTES + _SPREAD * length)


def read_facets(
    kind: str, fields: JsonObject, key: str, path: str, set_aside: list[str]
) -> dict[str, Facet]:
    """The facets of one entity by name; a null facet is left out.

    ``kind`` is run, job, dataset, input or output. A damaged facet is left out, too, and
    ``set_aside`` receives the reason: clients drop an event that is refused, with its tables.
    """
    here = join(path, key)
    read: dict[str, Facet] = {}
    for name, value in _listed(fields, key, path, set_aside).items():
        if value is None:
            continue
        try:
            read[name] = _read_facet(kind, name, value, here)
        except InvalidDocument as problem:
            if name == DECLARATION_FACET:  # no client sends it, and it decides what the event is
                raise
            _note(problem, set_aside)
    return read


def _note(problem: InvalidDocument, set_aside: list[str]) -> None:
    """A reason is longer than the facet may be: a bounded number is kept."""
    if len(set_aside) < _MOST_SET_ASIDE:
        set_aside.append(str(problem))
    elif len(set_aside) == _MOST_SET_ASIDE:
        set_aside.append("and more of them")


def _listed(fields: JsonObject, key: str, path: str, set_aside: list[str]) -> JsonObject:
    try:
        return optional_object(fields, key, path)
    except InvalidDocument as problem:
        _note(problem, set_aside)
        return {}


def _read_facet(kind: str, name: str, facet: object, path: str) -> Facet:
    """Raises InvalidDocument for a damaged one."""
    here = join(path, name)
    if len(name) > _LONGEST_FACET_NAME:
        raise InvalidDocument(here, f"names of at most {_LONGEST_FACET_NAME} characters")
    value = read_object(facet, here)
    body = {key: item for key, item in value.items() if key not in ENVELOPE}
    spelled = identity.spelled(body)
    digest = identity.digest_of_spelled(spelled)
    if optional_flag(value, "_deleted", here):
        return Facet(name, {}, "", deleted=True)
    reader = READERS[kind].get(name)
    if reader is None:
        return Facet(name, body, digest)
    if reader is read_column_lineage and _AGENT in str(value.get("_producer")):
        kind, reader = _AGENT, read_agents_column_lineage
    reading = read_once((kind, name, digest), len(spelled), partial(reader, body, here))
    return Facet(name, body, digest, value=reading.value)


def _digest_of(body: JsonObject) -> str:
    return identity.digest_of_spelled(identity.spelled(body))


def is_silent(facet: Facet) -> bool:
    """Whether a facet says nothing: clients that did not see the columns send ``fields: []``.

    Only ``_deleted`` takes columns away.
    """
    return facet.name == "schema" and not facet.deleted and not facet.value


def value_of(facets: Facets, name: str, kind: type[_Value]) -> _Value | None:
    """The value of a facet; None where it is absent or deleted."""
    facet = facets.get(name)
    return facet.value if facet is not None and isinstance(facet.value, kind) else None
