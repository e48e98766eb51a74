"""Lineage that a person declares: a JobEvent of OpenLineage, with a facet for author and reason.

    Declaration -> write_declaration -> JobEvent (journal) -> read_event -> facts, origin declared

The event is one that any reader of OpenLineage understands: ``inputs``, ``outputs`` and the
``lineage`` facet with its columns. Only the service writes the facet, so its author is reliable; an
event from outside that carries it is refused (``openlineage.producer``), a journal's export can.
Declarations are translated as JobEvents, under the subject key of their job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph_model import identity
from graph_model.errors import InvalidDocument
from graph_model.json_fields import JsonObject, read_object
from graph_model.naming import JobName, Rules, openlineage_uri
from graph_model.producers.openlineage.events.documents import (
    JobEvent,
    read_event,
    read_json,
    subject_key,
)
from graph_model.producers.openlineage.events.facets import (
    DECLARATION_FACET,
    DeclarationFacet,
    value_of,
)
from graph_model.producers.openlineage.producer import SPECIFICATION, OpenLineageTranslator
from graph_model.producers.producer import PeoplesProducer, Reported
from graph_model.stores.documents import (
    DocumentKind,
    StoredDocument,
    Submission,
    compact_json,
    make_submission,
)
from spark_agent_config.masking import mask_secrets

DECLARATION_KIND: Final = DocumentKind("declaration")
"""Declarations journalled earlier have the kind ``job-event`` and keep it."""
PREFIX: Final = "decl_"
_PRODUCER: Final = "headwater"
_SPECIFICATION: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
_LINEAGE_FACET: Final = "https://openlineage.io/spec/facets/1-0-0/LineageFacet.json"


@dataclass(frozen=True, slots=True, order=True)
class ColumnMapping:
    """Column ``column`` of a source goes into column ``into`` of the target."""

    source: str
    column: str
    into: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """``target`` and ``sources`` are canonical URIs in one capture ``scope``; ``since`` (the start
    of its validity) and ``declared_at`` are ISO 8601. ``sources`` and ``columns`` are sorted and
    distinct.
    """

    author: str
    declared_at: str
    since: str
    note: str
    scope: str
    job: JobName
    target: str
    sources: tuple[str, ...]
    columns: tuple[ColumnMapping, ...] = ()

    @property
    def id(self) -> str:
        """Equal for two declarations of one person with the same content; times and note do not
        count.
        """
        columns = [(mapping.source, mapping.column, mapping.into) for mapping in self.columns]
        parts = (self.scope, self.job.namespace, self.job.name, self.target, self.sources, columns)
        return PREFIX + identity.digest("declaration", self.author, *parts)


# --- the document --------------------------------------------------------------------------------


def write_declaration(declaration: Declaration, rules: Rules) -> dict[str, Any]:
    """The event, JSON-able; ``rules`` spell a URI as (namespace, name)."""
    names = {uri: name_dataset(uri, rules) for uri in (declaration.target, *declaration.sources)}
    facets = {
        "lineage": _write_lineage(declaration, names),
        DECLARATION_FACET: _write_facet(declaration),
    }
    job = {"namespace": declaration.job.namespace, "name": declaration.job.name, "facets": facets}
    return {
        "eventTime": declaration.since,
        "producer": _PRODUCER,
        "schemaURL": f"{_SPECIFICATION}#/$defs/JobEvent",
        "job": job,
        "inputs": [names[uri] for uri in declaration.sources],
        "outputs": [names[declaration.target]],
    }


def _write_facet(declaration: Declaration) -> dict[str, Any]:
    return {
        "_producer": _PRODUCER,
        "_schemaURL": "docs/declarations.md",
        "id": declaration.id,
        "author": declaration.author,
        "note": declaration.note,
        "declaredAt": declaration.declared_at,
    }


def _write_lineage(declaration: Declaration, names: Mapping[str, JsonObject]) -> dict[str, Any]:
    """``fields`` where columns are declared; each source also feeds the whole target."""
    columns: dict[str, list[dict[str, Any]]] = {}
    for mapping in declaration.columns:
        source = {**names[mapping.source], "type": "DATASET", "field": mapping.column}
        columns.setdefault(mapping.into, []).append(source)
    entry: dict[str, Any] = {
        **names[declaration.target],
        "type": "DATASET",
        "inputs": [{**names[uri], "type": "DATASET"} for uri in declaration.sources],
    }
    if columns:
        entry["fields"] = {column: {"inputs": sources} for column, sources in columns.items()}
    return {"_producer": _PRODUCER, "_schemaURL": _LINEAGE_FACET, "entries": [entry]}


def name_dataset(uri: str, rules: Rules) -> dict[str, str]:
    """OpenLineage's (namespace, name) of a canonical URI; the namespace is empty where no pair
    gives the URI back: ``s3://lake/people`` => (s3://lake, people), ``kafka:topic`` => ("", …).
    """
    scheme, separator, rest = uri.partition("://")
    authority, slash, path = rest.partition("/")
    if separator and slash and path:
        namespace = f"{scheme}://{authority}"
        if openlineage_uri(namespace, path, rules) == uri:
            return {"namespace": namespace, "name": path}
    return {"namespace": "", "name": uri}


def declaration_submission(document: Any, scope: str = "") -> Submission:
    """Validated and masked; raises InvalidDocument for an event without a declaration facet."""
    masked = read_object(mask_secrets(document), "")
    event = read_event(masked)
    if not isinstance(event, JobEvent) or not value_of(
        event.job.facets, DECLARATION_FACET, DeclarationFacet
    ):
        raise InvalidDocument(
            f"job.facets.{DECLARATION_FACET}", "author, note and time of the declaration"
        )
    body = compact_json(masked)
    return make_submission(DECLARATION_KIND, SPECIFICATION, subject_key(event), scope, body)


class Declarations(PeoplesProducer):
    """A producer, see ``producer.Producer``. Its facts depend on the version of OpenLineage's
    translator.
    """

    kinds = (DECLARATION_KIND,)
    api_versions = (SPECIFICATION,)

    def submission(self, reported: Reported) -> Submission:
        return declaration_submission(reported.document)

    def event(self, document: StoredDocument, rules: Rules) -> JsonObject:  # noqa: ARG002
        return read_json(document.body)

    def translator(self, rules: Rules, clock_tolerance: int) -> OpenLineageTranslator:
        return OpenLineageTranslator(rules, clock_tolerance)
