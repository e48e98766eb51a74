"""The stores and rules of one request, as one value, and the node references that they resolve.

    dataset:<uri>   dataset:<scope>@<uri>   column:<uri>#<path>   job:<namespace>/<name>   <id>

Components may be percent-encoded where they hold a separator. A URI is normalised as ingestion
normalises it, so any accepted spelling finds its dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar
from urllib.parse import unquote

from graph_model import identity, labels, naming
from graph_model.errors import AmbiguousReference, InvalidReference, NotFound
from graph_model.facts import DatasetRow
from graph_model.governance.statements import NOTHING, Governance
from graph_model.lineage import Lineage, Partial, Structure
from graph_model.naming import Rules
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.catalogue import Catalogue, FacetRecords
from graph_model.stores.graph import Graph, GraphReader
from graph_model.stores.journal import Journal

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")
_Row = TypeVar("_Row")
MOST_OPEN_TABLES: Final = 1_000
MOST_READ: Final = 100_000
"""Rows that an answer reads where no index knows the few that it is about."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs of every answer.

    ``rules`` name datasets; ``producers`` read documents; ``governance`` holds classifications,
    hidden nodes and other statements by people; ``structure`` is the graph structure kept between
    requests, ``sent`` what this one has read of events, per set of hidden nodes
    (``openlineage.sent_facets``). ``expired`` returns True once ``time_limit_ms`` has passed.
    ``now`` is the server's time (epoch ms), 0 where no state of a run depends on it.

    ``hidden`` are ids of datasets and jobs that no answer names or counts, except as hidden ones.
    Only ``nodes`` changes the set: with ``opens_hidden`` (the caller is an admin) it takes out
    a hidden node requested by its id.
    """

    graph: Graph
    catalogue: Catalogue
    journal: Journal
    rules: Rules = naming.DEFAULT_RULES
    producers: Producers = PRODUCERS
    governance: Governance = NOTHING
    structure: Structure = field(default_factory=Structure)
    hidden: frozenset[str] = frozenset()
    opens_hidden: bool = False
    expired: Callable[[], bool] = _never
    time_limit_ms: int = 0
    now: int = 0
    sent: dict[frozenset[str], dict[str, Any]] = field(default_factory=dict, compare=False)

    @property
    def facets(self) -> FacetRecords:
        """The facets that visible jobs sent, and those of events about a dataset alone."""
        return self.catalogue.facets.without(self.hidden)

    @property
    def references(self) -> References:
        """Resolves the references that clients write for a node, hidden nodes included."""
        return References(
            self.catalogue,
            self.graph,
            self.rules,
            joined=self.joined_columns,
        )

    @property
    def joined_columns(self) -> JoinedColumns:
        """The columns that no document names."""
        return JoinedColumns(self.structure, self.catalogue, self.lineage)

    @property
    def lineage(self) -> Lineage:
        """A new walk, which remembers everything that it reads."""
        return Lineage(
            self.graph,
            self.catalogue,
            expired=self.expired,
            time_limit_ms=self.time_limit_ms,
            structure=self.structure,
            hidden=self.hidden,
        )

    @contextmanager
    def at_once(self) -> Iterator[Sources]:
        """The same sources, with the catalogue read in one snapshot."""
        with self.catalogue.snapshot() as catalogue:
            yield replace(self, catalogue=catalogue)


class BoundedRows(Generic[_Row]):
    """Rows, up to MOST_READ of them and the time of the sources. ``partial`` says, once they are
    read, which bound was met.
    """

    def __init__(self, sources: Sources, rows: Iterable[_Row]) -> None:
        self._sources = sources
        self._rows = rows
        self.partial: Partial | None = None

    def __iter__(self) -> Iterator[_Row]:
        for number, row in enumerate(self._rows):
            if number == MOST_READ:
                self.partial = Partial("nodes", MOST_READ)
            elif self._sources.expired():
                self.partial = Partial("time", self._sources.time_limit_ms)
            if self.partial:
                return
            yield row


def of_one_state(
    ask: Callable[Concatenate[Sources, _Asked], _Answer],
) -> Callable[Concatenate[Sources, _Asked], _Answer]:
    """Makes all catalogue reads of the question see one snapshot."""

    @wraps(ask)
    def asked(sources: Sources, /, *given: _Asked.args, **named: _Asked.kwargs) -> _Answer:
        with sources.at_once() as same:
            return ask(same, *given, **named)

    return asked


class JoinedColumns:
    """Columns of tables without a schema, which the catalogue's schemas of other tables give them
    (``lineage.open_columns``): no document names them.
    """

    def __init__(self, structure: Structure, catalogue: Catalogue, lineage: Lineage) -> None:
        self._structure = structure
        self._catalogue = catalogue
        self._lineage = lineage

    def find(self, column: str) -> tuple[str, str] | None:
        """Table and path of the column (an id), which an answer of another process may have given:
        then it is looked for in the first MOST_OPEN_TABLES that such columns may be of.
        """
        if (name := self._structure.joined.find((column,)).get(column)) is not None:
            return name
        tables = set(self._catalogue.tables_with_open_columns(MOST_OPEN_TABLES))
        if tables:
            tables |= {
                place for name, place in self._catalogue.names_around(tables) if name in tables
            }
        for node in self._lineage.columns_of(tables, None) if tables else ():
            if node.id == column:
                self._structure.joined.keep({column: (node.dataset, node.path)})
                return node.dataset, node.path
        return None

    def of(self, dataset: str) -> set[str]:
        """The ids of all columns that the dataset has now."""
        return {column.id for column in self._lineage.columns_of((dataset,), None)}


EXPECTED: Final = (
    "an id, dataset:<uri>, dataset:<scope>@<uri>, column:<uri>#<path> or job:<namespace>/<name>"
)
_NODE_KINDS: Final = (labels.DATASET, labels.COLUMN, labels.JOB)


class References:
    """Resolves references against one catalogue and one graph.

    ``listed`` returns those of some columns (ids) that a schema has; ``joined`` knows those that
    only answers have, None: they are not found.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        graph: GraphReader,
        rules: Rules = naming.DEFAULT_RULES,
        listed: Callable[[Collection[str]], Collection[object]] | None = None,
        joined: JoinedColumns | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._graph = graph
        self._rules = rules
        self._listed = listed or catalogue.columns
        self._joined = joined

    def resolve(self, reference: str, at: int | None = None) -> str:
        """The id of an existing dataset, column or job.

        Raises InvalidReference (not a reference), AmbiguousReference (several scopes know the
        URI) or NotFound. A catalog name gives the location that it stood for at ``at``.
        """
        kind = identity.kind_of(reference)
        if kind is not None:
            return self._known_id(kind, reference)
        prefix, separator, rest = reference.partition(":")
        if separator and rest:
            if prefix == labels.DATASET:
                return self.dataset(rest, at, asked=reference)
            if prefix == labels.COLUMN:
                return self._column(reference, rest, at)
            if prefix == labels.JOB:
                return self._job(reference, rest)
        raise InvalidReference(reference, EXPECTED)

    def dataset(self, text: str, at: int | None = None, *, asked: str | None = None) -> str:
        """The id of the dataset with this URI, ``<scope>@<uri>`` or id.

        ``asked`` is the whole reference as written, for error messages.
        """
        if identity.kind_of(text) == labels.DATASET:
            return self._known_id(labels.DATASET, text)
        for spelling in _spellings(text):
            for scope, uri in _scoped(spelling):
                rows = self._rows(uri)
                if scope is not None:
                    rows = tuple(row for row in rows if row.scope == scope)
                if rows:
                    return self._location(_only(asked or text, rows), at)
        raise NotFound("dataset", asked or text)

    def column(self, dataset: str, path: str) -> str:
        """The id of a dataset's column by its path, in any case.

        Where only a catalog name of the dataset has such a column, the id of that column.
        """
        exact = naming.split_path(path)
        spellings = (
            exact,
            tuple(naming.fold(segment) for segment in exact),
            (path,),  # an unquoted name with a dot
            (naming.fold(path),),
        )
        paths = [naming.column_path(each) for each in spellings]
        for called in self._called(dataset):
            for key in dict.fromkeys(identity.column_id(called, path) for path in paths):
                if self._has_column(key):
                    return key
        joined = self._joined.of(dataset) if self._joined is not None else ()
        for key in (identity.column_id(dataset, path) for path in paths):
            if key in joined:
                return key
        raise NotFound("column", path)

    def _called(self, dataset: str) -> Iterator[str]:
        """A dataset and then, read only when needed, the names that ever stood for it."""
        yield dataset
        pairs = self._catalogue.names_around((dataset,))
        yield from sorted(name for name, location in pairs if location == dataset)

    def _known_id(self, kind: str, key: str) -> str:
        if kind == labels.DATASET and self._catalogue.datasets((key,)):
            return key
        if kind == labels.JOB and self._catalogue.jobs((key,)):
            return key
        if kind == labels.COLUMN and (self._has_column(key) or self._is_joined(key)):
            return key
        if kind not in _NODE_KINDS:
            raise InvalidReference(key, "the id of a dataset, a column or a job")
        raise NotFound(kind, key)

    def _has_column(self, key: str) -> bool:
        """A column that no schema lists exists only in the graph."""
        return bool(self._listed((key,)) or self._graph.vertices((key,)))

    def _is_joined(self, key: str) -> bool:
        return self._joined is not None and self._joined.find(key) is not None

    def _rows(self, uri: str) -> tuple[DatasetRow, ...]:
        """The datasets with this URI; otherwise those to which an OpenLineage client gives this
        name.
        """
        for spelling in (uri, _as_pair(uri, self._rules)):
            names = naming.normalise(spelling, "", self._rules)
            if len(names) == 1 and (rows := self._catalogue.datasets_by_uri(names[0].uri)):
                return rows
        return ()

    def _location(self, row: DatasetRow, at: int | None) -> str:
        if row.kind != "name":
            return row.id
        return self._catalogue.location_of(row.id, at) or row.id

    def _column(self, reference: str, rest: str, at: int | None) -> str:
        uri, separator, path = rest.rpartition("#")
        if not separator or not uri or not path:
            raise InvalidReference(reference, "column:<uri>#<path>")
        try:
            dataset = self.dataset(uri, at, asked=reference)
        except NotFound:
            raise NotFound("dataset", f"{labels.DATASET}:{uri}") from None
        for spelling in _spellings(path):
            try:
                return self.column(dataset, spelling)
            except NotFound:
                continue
        raise NotFound("column", reference)

    def _job(self, reference: str, rest: str) -> str:
        namespace, separator, name = rest.partition("/")
        if not separator or not namespace or not name:
            raise InvalidReference(reference, "job:<namespace>/<name>")
        for decode in (str, unquote):
            row = self._catalogue.job_by_name(decode(namespace), decode(name))
            if row is not None:
                return row.id
        raise NotFound("job", reference)


def possible_ids(reference: str, rules: Rules) -> frozenset[str]:
    """The ids that a reference to a dataset or a job may resolve to, known or not."""
    if identity.kind_of(reference) is not None:
        return frozenset((reference,))
    prefix, _, rest = reference.partition(":")
    if prefix == labels.JOB:
        names = [rest.partition("/")[::2] for rest in _spellings(rest)]
        return frozenset(identity.job_id(namespace, name) for namespace, name in names)
    if prefix != labels.DATASET:
        return frozenset()
    return frozenset(
        identity.dataset_id(name.scope, name.uri)
        for spelling in _spellings(rest)
        for scope, uri in _scoped(spelling)
        for pair in {uri, _as_pair(uri, rules)}
        for name in naming.normalise(pair, scope or "", rules)
    )


def _as_pair(uri: str, rules: Rules) -> str:
    """``postgres://db:5432/shop.public.orders``, read as a namespace and a name, as ingestion
    spells it.
    """
    namespace, _, name = uri.rpartition("/")
    return naming.openlineage_uri(namespace, name, rules) if namespace and name else uri


def _spellings(text: str) -> Iterator[str]:
    """The text as the client wrote it, then percent-decoded."""
    yield text
    if "%" in text:
        yield unquote(text)


def _scoped(text: str) -> Iterator[tuple[str | None, str]]:
    """The whole text as a URI of any scope, then as ``<scope>@<uri>``."""
    yield None, text
    scope, separator, uri = text.partition("@")
    if separator and uri:
        yield unquote(scope), uri


def _only(reference: str, rows: tuple[DatasetRow, ...]) -> DatasetRow:
    """The row of the empty scope, or the only row."""
    unscoped = [row for row in rows if row.scope == ""]
    if unscoped:
        return unscoped[0]
    if len(rows) > 1:
        raise AmbiguousReference(reference, tuple(row.id for row in rows))
    return rows[0]
