"""Declarations of people -> JobEvents in the journal, all of a request or none; their retraction.

request -> read (names, columns; each error names its field) -> Declaration
        -> JobEvent -> journal -> projected like any other event
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from api.intake.commands import WAIT_SECONDS, Covered, give
from api.service import Service
from graph_model import identity, naming
from graph_model.answers.sources import References
from graph_model.errors import AmbiguousReference, InvalidFields, InvalidReference, NotFound
from graph_model.facts import DatasetRow, DeclarationRow
from graph_model.naming import JobName
from graph_model.producers.commands import Retract
from graph_model.producers.declared import (
    DECLARATION_KIND,
    ColumnMapping,
    Declaration,
    declaration_submission,
    write_declaration,
)
from graph_model.producers.openlineage.events.documents import JobEvent, read_event
from graph_model.producers.openlineage.translate import read_declaration
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.documents import Receipt, Submission
from graph_model.values import iso

MOST_ENDS: Final = 20_000
"""Sources and columns of one request: each is looked up."""
_DATASET: Final = "dataset:"
_JOB: Final = "job:"
_DEFAULT_NAMESPACE: Final = "default"
_EXPECTED_DATASET: Final = "a URI such as s3://bucket/table, dataset:<uri>, or the id of a dataset"
_EXPECTED_JOB: Final = "<namespace>/<name>"


@dataclass(frozen=True, slots=True)
class Author:
    """``scope`` is the capture scope of URIs without an authority."""

    name: str
    scope: str


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration on its way: its row as the graph will have it, and its document."""

    row: DeclarationRow
    submission: Submission


def prepare(
    bodies: Sequence[Mapping[str, Any]], author: Author, service: Service
) -> tuple[Declared, ...]:
    """The declarations of these requests, each once. Raises InvalidFields with all errors."""
    if sum(len(body["sources"]) + len(body["columns"]) for body in bodies) > MOST_ENDS:
        expected = f"at most {MOST_ENDS:,} sources and columns in one request"
        raise InvalidFields({"declarations": [expected]})
    reader = _Reader(author, service)
    read = [reader.read(body, f"declarations[{place}]") for place, body in enumerate(bodies)]
    if reader.errors:
        raise InvalidFields(reader.errors)
    prepared = (_prepare(declaration, service) for declaration in read if declaration is not None)
    return tuple({declared.row.id: declared for declared in prepared}.values())


def _prepare(declaration: Declaration, service: Service) -> Declared:
    rules = service.projector.rules
    submission = declaration_submission(write_declaration(declaration, rules), declaration.scope)
    event = read_event(submission.body)
    if not isinstance(event, JobEvent):
        raise TypeError("a declaration is a JobEvent")
    facts = read_declaration(event, rules, declaration.scope).own
    row = next(row for row in facts.rows if isinstance(row, DeclarationRow))
    return Declared(row, submission)


def declare(declared: Iterable[Declared], author: Author, route: str, service: Service) -> None:
    """Journal them in one transaction and wait until they are seen."""
    submissions = [prepared.submission for prepared in declared]
    if not submissions:
        return
    receipt = Receipt(service.clock(), author.name, route, "")
    positions = service.journal.accept(submissions, receipt)
    service.metrics.received(DECLARATION_KIND, len(submissions))
    service.projector.notify()
    service.projector.wait(positions, WAIT_SECONDS)


def list_declarations(service: Service, node: str | None = None) -> list[DeclarationRow]:
    """The declarations in force, newest first, each once (the first of a repeated one)."""
    once: dict[str, DeclarationRow] = {}
    for row in service.catalogue.declarations(node):
        once.setdefault(row.id, row)
    return sorted(once.values(), key=lambda row: (row.declared_at, row.id), reverse=True)


def retract(row: DeclarationRow, author: str, note: str, route: str, service: Service) -> None:
    """Take a declaration back: a command that names its documents, and the wait until it holds."""
    same = [stored for stored in service.catalogue.declarations(row.target) if stored.id == row.id]
    retraction = Retract(
        tuple(sorted({stored.plan_id for stored in same})), _documents(same, service)
    )
    target = f"{row.id} {json.loads(row.body)['target']['uri']}"[:2_000]
    positions = give(Covered((retraction,), target), author, note, route, service)
    service.projector.wait(positions, WAIT_SECONDS)


def _documents(rows: Sequence[DeclarationRow], service: Service) -> tuple[str, ...]:
    """The content hashes of the documents behind these rows."""
    events = {(row.event, row.scope) for row in rows}
    return tuple(
        sorted(
            {
                document.content_hash
                for key in {row.plan_id for row in rows}
                for document in service.journal.documents_of(key)
                if not document.damage
                and (read_event(document.body).digest, document.scope) in events
            }
        )
    )


def describe(row: DeclarationRow, *, removable: bool) -> dict[str, Any]:
    """The JSON form."""
    return {
        "id": row.id,
        "author": row.author,
        "declaredAt": iso(row.declared_at),
        "since": iso(row.since),
        "note": row.note,
        **json.loads(row.body),
        "removable": removable,
    }


# --- reading a request ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Named:
    """A dataset by its canonical name; ``id`` None where no document names it yet."""

    scope: str
    uri: str
    id: str | None


@dataclass(slots=True)
class _Reader:
    """Reads requests; gathers all their faults in ``errors``.

    One catalogue serves all of them, and keeps its look-ups: a request may name the same few
    datasets thousands of times.
    """

    author: Author
    service: Service
    errors: dict[str, list[str]] = field(default_factory=dict)
    _datasets: dict[str, _Named] = field(default_factory=dict)
    _has_schema: dict[str, bool] = field(default_factory=dict)
    _catalogue: Catalogue = field(init=False)
    _references: References = field(init=False)

    def __post_init__(self) -> None:
        self._catalogue = self.service.catalogue
        self._references = self.service.references

    def read(self, body: Mapping[str, Any], path: str) -> Declaration | None:
        before = len(self.errors)
        target = self._dataset(body["target"], f"{path}.target")
        listed = [
            self._dataset(text, f"{path}.sources[{place}]")
            for place, text in enumerate(body["sources"])
        ]
        job = self._job(body["job"], f"{path}.job")
        sources = {
            text: source for text, source in zip(body["sources"], listed, strict=True) if source
        }
        if target is None or len(self.errors) > before:
            return None
        self._check_scopes([target, *listed], path)
        self._check_loop(target, listed, path)
        columns = self._columns(body["columns"], sources, target, path)
        if len(self.errors) > before:
            return None
        return self._declaration(body, job, target, tuple(sources.values()), columns)

    def _declaration(
        self,
        body: Mapping[str, Any],
        job: JobName | None,
        target: _Named,
        sources: Sequence[_Named],
        columns: Iterable[ColumnMapping],
    ) -> Declaration:
        now = self.service.clock()
        rules = self.service.projector.rules
        scopes = sorted({dataset.scope for dataset in (target, *sources)} - {""})
        return Declaration(
            author=self.author.name,
            declared_at=iso(now),
            since=iso(now if body["since"] is None else body["since"]),
            note=body["note"],
            scope=scopes[0] if scopes else self.author.scope,
            job=job or JobName(rules.declared_namespace, target.uri, shared=False),
            target=target.uri,
            sources=tuple(sorted({source.uri for source in sources})),
            columns=tuple(sorted(set(columns))),
        )

    def _wrong(self, path: str, expected: str) -> None:
        self.errors.setdefault(path, []).append(expected)

    def _dataset(self, text: str, path: str) -> _Named | None:
        dataset = self._datasets.get(text) or self._look_up(text, path)
        if dataset is not None:
            self._datasets[text] = dataset
        return dataset

    def _look_up(self, text: str, path: str) -> _Named | None:
        try:
            row = self._known(text)
        except AmbiguousReference as error:
            self._wrong(path, f"one of the ids {', '.join(error.candidates)}")
            return None
        except (InvalidReference, NotFound):
            return self._new(text, path)
        return _Named(row.scope, row.uri, row.id)

    def _known(self, text: str) -> DatasetRow:
        """Raises AmbiguousReference, InvalidReference or NotFound."""
        node = self._references.dataset(text.removeprefix(_DATASET).strip())
        return self._catalogue.datasets((node,))[0]

    def _new(self, text: str, path: str) -> _Named | None:
        """A dataset that no document names: by its URI alone."""
        uri = text.removeprefix(_DATASET).strip()
        names = naming.normalise(uri, self.author.scope, self.service.projector.rules)
        if identity.kind_of(uri) or ":" not in uri or len(names) != 1:
            self._wrong(path, _EXPECTED_DATASET)
            return None
        return _Named(names[0].scope, names[0].uri, None)

    def _job(self, text: str | None, path: str) -> JobName | None:
        if text is None:
            return None
        namespace, slash, name = text.removeprefix(_JOB).strip().partition("/")
        if not slash:
            namespace, name = _DEFAULT_NAMESPACE, namespace
        if not namespace.strip() or not name.strip():
            self._wrong(path, _EXPECTED_JOB)
            return None
        return JobName(namespace.strip(), name.strip(), shared=False)

    def _check_scopes(self, datasets: Sequence[_Named | None], path: str) -> None:
        """One document has one capture scope."""
        scopes = {dataset.scope for dataset in datasets if dataset is not None} - {""}
        if len(scopes) > 1:
            listed = " and ".join(sorted(scopes))
            self._wrong(f"{path}.sources", f"datasets of one capture scope, not of {listed}")

    def _check_loop(self, target: _Named, sources: Sequence[_Named | None], path: str) -> None:
        for place, source in enumerate(sources):
            if source is not None and (source.scope, source.uri) == (target.scope, target.uri):
                self._wrong(f"{path}.sources[{place}]", "another dataset than the target")

    def _columns(
        self,
        listed: Sequence[Mapping[str, Any]],
        sources: Mapping[str, _Named],
        target: _Named,
        path: str,
    ) -> list[ColumnMapping]:
        mappings = []
        for place, body in enumerate(listed):
            here = f"{path}.columns[{place}]"
            source = self._source_of(body, sources, here)
            if source is not None:
                self._check_column(source, body["column"], f"{here}.from")
                self._check_column(target, body["into"], f"{here}.to")
                mappings.append(ColumnMapping(source.uri, body["column"], body["into"]))
        return mappings

    def _source_of(
        self, body: Mapping[str, Any], sources: Mapping[str, _Named], path: str
    ) -> _Named | None:
        if body["source"] is None:
            if len(sources) == 1:
                return next(iter(sources.values()))
            self._wrong(f"{path}.source", "one of the sources, for there are several")
            return None
        if body["source"] in sources:
            return sources[body["source"]]
        meant = self._dataset(body["source"], f"{path}.source")
        if meant is not None and meant in sources.values():
            return meant
        if meant is not None:
            self._wrong(f"{path}.source", "one of the sources")
        return None

    def _check_column(self, dataset: _Named, name: str, path: str) -> None:
        """A dataset with known columns has only these: a misspelt name makes no new column."""
        if dataset.id is None or not self._knows_columns(dataset.id):
            return
        try:
            self._references.column(dataset.id, name)
        except NotFound:
            self._wrong(path, f"a column of {dataset.uri}")

    def _knows_columns(self, dataset: str) -> bool:
        if dataset not in self._has_schema:
            schemas = self._catalogue.newest_schemas((dataset,), None)
            self._has_schema[dataset] = dataset in schemas
        return self._has_schema[dataset]


def find(key: str, service: Service) -> DeclarationRow:
    """Raises NotFound."""
    for row in list_declarations(service):
        if row.id == key:
            return row
    raise NotFound("declaration", key)


def touches(row: DeclarationRow, hidden: frozenset[str]) -> bool:
    """Whether the declaration names a hidden node."""
    return bool(hidden) and not hidden.isdisjoint(row.nodes.split(" "))
