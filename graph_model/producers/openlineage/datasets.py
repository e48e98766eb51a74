"""Datasets and columns of an event under their canonical identity.

(namespace, name) pairs, partitions, part files and spellings fold by ``naming`` as they do for
Spline's URIs; a column is (dataset id, folded path), nested fields below their column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any, Final

from cachetools import LRUCache, cached

from graph_model import identity, labels, naming
from graph_model.naming import DatasetName, Rules, SchemaColumn
from graph_model.producers.openlineage.events.documents import Dataset
from graph_model.producers.openlineage.events.facets import (
    Facet,
    SchemaField,
    Subset,
    Symlink,
    is_silent,
)

Column = tuple[str, str]  # (dataset id, path)

#: Spark's agent's name for the element of an array, which is no step of a path.
_ELEMENT: Final = "_element"
_MAX_TYPE_CHARACTERS: Final = 10_000
_MOST_SCHEMA_BYTES: Final = 16_000_000
_SCHEMA_BYTES: Final = 1_000
_SPREAD: Final = 5
"""Bytes of a schema per character of its content."""


@dataclass(frozen=True)
class Schema:
    """Columns in order. ``columns`` None: unknown."""

    fields: tuple[SchemaField, ...] | None

    @cached_property
    def _read(self) -> tuple[tuple[SchemaColumn, ...], tuple[str, ...]]:
        pairs = [
            (naming.unquoted_column(schema_field.name), type_text(schema_field))
            for schema_field in self.fields or ()
        ]
        return naming.schema_columns(pairs)

    @property
    def columns(self) -> tuple[SchemaColumn, ...] | None:
        return None if self.fields is None else self._read[0]

    @property
    def size(self) -> int:
        """The number of columns and nested fields."""
        return len(self.columns or ()) + len(self.nested)

    @property
    def collisions(self) -> tuple[str, ...]:
        return self._read[1]

    @cached_property
    def nested(self) -> tuple[str, ...]:
        """The paths of all fields below the columns."""
        paths: dict[str, None] = {}
        for column, schema_field in zip(self._read[0], self.fields or (), strict=True):
            for segments, _ in _below(naming.split_path(column.path), schema_field.fields):
                paths[naming.column_path(segments)] = None
        return tuple(paths)

    @cached_property
    def content(self) -> str:
        """As JSON ``[{"name", "type", "path"(, "fields")}, …]``, "" where unknown."""
        if self.fields is None:
            return ""
        return identity.spelled(
            [
                _described(column.name, column.type, (column.path,), schema_field.fields)
                | {"path": column.path}
                for column, schema_field in zip(self._read[0], self.fields, strict=True)
            ]
        )

    @cached_property
    def _paths(self) -> dict[str, str]:
        """Path by exact name, then by folded name."""
        paths = {naming.fold(c.name): c.path for c in reversed(self._read[0])}
        return paths | {c.name: c.path for c in reversed(self._read[0])}

    def path(self, name: str) -> str:
        """The path of a column that lineage names: ``Address.City`` => ``address.city``.

        A dot is a step into a struct where the schema has the column before it, or where there is
        no schema; otherwise it is part of the name. Quotes are no part of it: ``"ID"`` is ``ID``.
        """
        if parts := naming.quoted_parts(name):
            first, *inner = parts
            outer = self._known(first) or naming.column_path((naming.fold(first),))
            return naming.column_path([*naming.split_path(outer), *map(naming.fold, inner)])
        folded = naming.fold(name)
        if (known := self._known(name)) is not None:
            return known
        first, dot, rest = name.partition(".")
        if not dot or not first or not rest:
            return naming.column_path((folded,))
        top = self._known(first)
        if top is None and self.fields is not None:
            return naming.column_path((folded,))
        steps = [naming.fold(step) for step in rest.split(".") if step != _ELEMENT]
        return naming.column_path([*naming.split_path(top or naming.fold(first)), *steps])

    def _known(self, name: str) -> str | None:
        return self._paths.get(name) or self._paths.get(naming.fold(name))


UNKNOWN_SCHEMA: Final = Schema(None)
_NO_COLUMNS: Final = Schema(())


def _weight(schema: Schema) -> int:
    return _SCHEMA_BYTES + _SPREAD * _length(schema)


def _length(schema: Schema) -> int:
    """Characters of the content and of the descriptions, which the content leaves out."""
    return len(schema.content) + _length_of_words(schema.fields or ())


def _length_of_words(fields: Iterable[SchemaField]) -> int:
    return sum(
        len(schema_field.description) + _length_of_words(schema_field.fields)
        for schema_field in fields
    )


_SCHEMAS: Final[LRUCache[str, Schema]] = LRUCache(_MOST_SCHEMA_BYTES, _weight)


@cached(_SCHEMAS, key=lambda facet: facet.digest, lock=Lock())
def schema_of(facet: Facet) -> Schema:
    """The schema in a facet; equal facets share one value and everything computed from it."""
    return Schema(facet.value)


def type_text(schema_field: SchemaField) -> str | None:
    """``struct<city:string,zip:int>`` for a struct with its fields, as Spline spells it."""
    parts = {inner.name: type_text(inner) or "" for inner in schema_field.fields}
    base = (schema_field.type or "").lower()
    if not parts:
        return schema_field.type
    if base == "array" and list(parts) == [_ELEMENT]:
        text = f"array<{parts[_ELEMENT]}>"
    elif base == "map" and list(parts) == ["key", "value"]:
        text = f"map<{parts['key']},{parts['value']}>"
    elif base in ("struct", "record", ""):
        text = "struct<" + ",".join(f"{name}:{kind}" for name, kind in parts.items()) + ">"
    else:
        return schema_field.type
    return text if len(text) <= _MAX_TYPE_CHARACTERS else f"{text[:_MAX_TYPE_CHARACTERS]}..."


def _below(
    above: Sequence[str], fields: Iterable[SchemaField]
) -> Iterator[tuple[tuple[str, ...], SchemaField]]:
    """Every nested field with the segments of its path, at any depth that a document may have."""
    for schema_field in fields:
        if schema_field.name == _ELEMENT:
            yield from _below(above, schema_field.fields)
            continue
        segments = (*above, naming.fold(naming.unquoted_column(schema_field.name)))
        yield segments, schema_field
        yield from _below(segments, schema_field.fields)


def _described(
    name: str, kind: str | None, above: tuple[str, ...], fields: Iterable[SchemaField]
) -> dict[str, Any]:
    description: dict[str, Any] = {"name": name, "type": kind}
    inner = [
        _described(schema_field.name, type_text(schema_field), above, schema_field.fields)
        for schema_field in fields
    ]
    return description | {"fields": inner} if inner else description


@dataclass(frozen=True)
class DatasetUse:
    """A dataset with the schema and partitions that a statement reports for it."""

    dataset: DatasetName
    schema: Schema = UNKNOWN_SCHEMA

    @cached_property
    def id(self) -> str:
        return identity.dataset_id(self.dataset.scope, self.dataset.uri)

    @cached_property
    def schema_id(self) -> str:
        return identity.vertex_id(labels.SCHEMA, self.id, self.schema.content)

    def column(self, name: str) -> Column:
        return self.id, self.schema.path(name)


Names = dict[str, tuple[tuple[DatasetName, DatasetUse], ...]]
"""URI => its names, each with its dataset without partitions."""


@dataclass
class DatasetNamer:
    """Names datasets under one scope and one set of rules, and remembers the schema of each.

    ``patterns`` are inputs with another URI than (namespace, name) has: that of the pattern which
    stands for several files, of the metadata table which is read in the place of its table.
    ``files`` are those of them that a pattern stands for, with what it does not say of them.
    ``found`` are the names of URIs under the scope and rules: namers of one subject share them,
    because a subject may have more than the cache of ``naming`` holds.
    """

    scope: str
    rules: Rules
    patterns: Mapping[tuple[str, str], str] = field(default_factory=dict)
    files: Mapping[tuple[str, str], str] = field(default_factory=dict)
    found: Names = field(default_factory=dict)
    known: dict[str, DatasetUse] = field(default_factory=dict)
    _asked: dict[tuple[str, str], tuple[DatasetUse, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        inputs: Sequence[Dataset],
        outputs: Sequence[Dataset],
        scope: str,
        rules: Rules,
        shared: Names | None = None,
    ) -> DatasetNamer:
        """The names of a statement's inputs and outputs; many input files may fold into one
        pattern.
        """
        names = cls(scope, rules, found={} if shared is None else shared)
        files = _files_of(inputs, outputs, rules)
        names.files = {key: file for key, (_, file) in files.items()}
        patterns = {key: pattern for key, (pattern, _) in files.items()}
        names.patterns = patterns | names._metadata_of(inputs, outputs)
        return names

    def _metadata_of(
        self, inputs: Sequence[Dataset], outputs: Sequence[Dataset]
    ) -> dict[tuple[str, str], str]:
        """The metadata tables among the inputs. A place that is also read or written under another
        name is the table itself: columns name no more than the place.
        """
        uris_of: dict[tuple[str, str], set[str]] = {}
        for dataset in (*inputs, *outputs):
            uris_of.setdefault(dataset.key, set()).add(self._read_at(dataset))
        return {
            key: uris.pop() for key, uris in uris_of.items() if len(uris) == 1 and "" not in uris
        }

    def _read_at(self, dataset: Dataset) -> str:
        """The URI of the metadata table that a dataset is by its symlinks; "" for any other."""
        facet = dataset.facets.get("symlinks")
        for link in facet.value if facet is not None and not facet.deleted else ():
            if link.type == "TABLE":
                place = self.names(*dataset.key)[0]
                read = naming.metadata_table(place, self.symlink(link), self.rules)
                if read != place:
                    return read.uri
        return ""

    def names(self, namespace: str, name: str) -> tuple[DatasetName, ...]:
        """One name, or several for a JDBC query over several tables; partitions
        are not stripped.
        """
        return tuple(dataset_name for dataset_name, _ in self._named(namespace, name))

    def learn(self, dataset: Dataset) -> None:
        """Keep the schema that an event gives a dataset; a deleted one has no columns."""
        facet = dataset.facets.get("schema")
        if facet is None or is_silent(facet):
            return
        schema = _NO_COLUMNS if facet.deleted else schema_of(facet)
        for _, whole in self._named(*dataset.key):
            self.known[whole.id] = DatasetUse(whole.dataset, schema)
        self._asked.clear()

    def uses(self, namespace: str, name: str) -> tuple[DatasetUse, ...]:
        uses = self._asked.get((namespace, name))
        if uses is None:
            named = self._named(namespace, name)
            uses = tuple(self.known.setdefault(use.id, use) for _, use in named)
            self._asked[(namespace, name)] = uses
        return uses

    def use(self, namespace: str, name: str) -> DatasetUse:
        return self.uses(namespace, name)[0]

    def symlink(self, link: Symlink) -> DatasetName:
        uri = naming.openlineage_symlink(link.namespace, link.name, link.type, self.rules)
        return _whole(naming.normalise(uri, self.scope, self.rules)[0])

    def _named(self, namespace: str, name: str) -> tuple[tuple[DatasetName, DatasetUse], ...]:
        """The names for a pair, each with its dataset without partitions."""
        pattern = self.patterns.get((namespace, name))
        uri = pattern or naming.openlineage_uri(namespace, name, self.rules)
        named = self.found.get(uri)
        if named is None:
            names = naming.normalise(uri, self.scope, self.rules)
            named = self.found[uri] = tuple(
                (dataset_name, DatasetUse(_whole(dataset_name))) for dataset_name in names
            )
        return named


def _files_of(
    inputs: Sequence[Dataset], outputs: Sequence[Dataset], rules: Rules
) -> dict[tuple[str, str], tuple[str, str]]:
    """(namespace, name) => the pattern of many input files, and what it does not say of the one."""
    written = {dataset.key for dataset in outputs}
    read = [dataset.key for dataset in inputs if dataset.key not in written]
    if len(read) <= rules.most_files_of_a_folder:
        return {}
    uris = {key: naming.openlineage_uri(*key, rules) for key in read}
    patterns = naming.patterns_of(uris.values(), rules)
    return {
        key: (patterns[uri], naming.varying_part(uri, patterns[uri]))
        for key, uri in uris.items()
        if uri in patterns
    }


def listed_files(inputs: Iterable[Dataset], names: DatasetNamer) -> Iterator[tuple[str, str]]:
    """(id of a pattern, file) of the lists that patterns stand for; none of a pattern that is an
    input, too, or stands for more than MOST_LISTED.
    """
    files_of: defaultdict[str, set[str]] = defaultdict(set)
    named = set[str]()
    for dataset in inputs:
        for use in names.uses(*dataset.key):
            if dataset.key in names.files:
                files_of[use.id].add(names.files[dataset.key])
            else:
                named.add(use.id)
    for pattern, files in files_of.items():
        if pattern not in named and len(files) <= naming.MOST_LISTED:
            yield from ((pattern, file) for file in files)


def _whole(name: DatasetName) -> DatasetName:
    """Without the partition, which is not part of the dataset's identity."""
    return replace(name, partition_keys=(), partition=None)


def partitions(dataset: Dataset, names: Iterable[DatasetName]) -> set[tuple[str, str]]:
    """(dataset id, partition) by the dataset's name and by its subset facet."""
    touched: set[tuple[str, str]] = set()
    facet = dataset.usage.get("subset")
    subset = facet.value if facet is not None else None
    listed = (
        [naming.partition_text(pairs) for pairs in subset.partitions]
        if isinstance(subset, Subset)
        else []
    )
    for name in names:
        for inner in listed or [""]:
            partition = "/".join(part for part in (name.partition, inner) if part)
            if partition:
                touched.add((identity.dataset_id(name.scope, name.uri), partition))
    return touched


def partition_keys(dataset: Dataset, names: Iterable[DatasetName]) -> tuple[str, ...]:
    """Folded keys: of the name's path, then those that the subset facet lists."""
    facet = dataset.usage.get("subset")
    subset = facet.value if facet is not None else None
    keys = [key for name in names for key in name.partition_keys]
    if isinstance(subset, Subset):
        keys += sorted({key for pairs in subset.partitions for key, _ in pairs})
    return tuple(dict.fromkeys(naming.fold(key) for key in keys))


def direction(
    own: DatasetName, link: Symlink, other: DatasetName
) -> tuple[DatasetName, DatasetName]:
    """(name, location) of a dataset and its symlink, whichever of them carries the facet.

    A LOCATION is the place of its dataset; a TABLE is a name for its dataset. Of other kinds, a
    catalog's name is the name and the other one the location.
    """
    if link.type == "LOCATION":
        return own, other
    if link.type != "TABLE" and own.kind == "name" and other.kind != "name":
        return own, other
    if link.type == "TABLE" and own.kind == "name" and other.kind == "file":
        return own, other
    return other, own
