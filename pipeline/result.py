"""A reader of a rebuild's result in a local folder or a prefix on S3. Needs no Spark.

``manifest.json``: the contents of a rebuild's result, in one file beside it.

It is written last: a destination without one is not complete. ``elements_digest`` is the service's
hash over its graph (``graph_model.stores.graph``), so the two compare without loading.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final, Protocol
from urllib.parse import urlsplit

from graph_model.errors import InvalidInput, NotFound
from graph_model.facts import Edge, Row, Vertex
from pipeline import records
from pipeline.records import EDGES, VERTICES, Element, read_elements

FILE: Final = "manifest.json"
FORMAT: Final = 1
_SAYS: Final = "pipeline"


@dataclass(frozen=True, slots=True)
class JournalCounts:
    """The documents read. ``last_position`` is the greatest; ``states`` counts them by state;
    ``refused_lines`` were unreadable.
    """

    documents: int
    plan_ids: int
    commands: int
    last_position: int
    states: Mapping[str, int]
    refused_lines: int


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of one label, or of one kind of row. ``columns``: property -> type."""

    count: int
    files: int
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """``epoch`` is that of a service that would have projected the same. ``conflicts`` are ids
    that came with different content, the first ones of ``conflict_count``. ``graph_runs``: which
    runs are among vertices and edges, as the journal notes it.
    """

    created_at: int
    epoch: str
    translator: str  # the versions of all formats
    catalogue_version: int
    journal: JournalCounts
    vertices: Mapping[str, FileGroup]
    edges: Mapping[str, FileGroup]
    rows: Mapping[str, FileGroup]
    elements_digest: str
    conflict_count: int
    conflicts: tuple[str, ...]
    problems: tuple[str, ...]
    graph_runs: str = "all"  # of an older version

    @property
    def complete(self) -> bool:
        """Whether everything that was read is in it, once."""
        return not (self.problems or self.conflict_count or self.journal.refused_lines)

    @property
    def elements(self) -> tuple[int, int]:
        """The number of vertices and of edges."""
        return _total(self.vertices), _total(self.edges)

    @property
    def row_count(self) -> int:
        return _total(self.rows)


def _total(groups: Mapping[str, FileGroup]) -> int:
    return sum(group.count for group in groups.values())


def write_manifest(manifest: Manifest) -> str:
    """The text of the file."""
    body = {"headwater": _SAYS, "format": FORMAT, "complete": manifest.complete, **asdict(manifest)}
    return json.dumps(body, indent=2, sort_keys=True) + "\n"


def read_manifest(text: str) -> Manifest:
    """The manifest of this text. Raises InvalidInput for anything else."""
    try:
        return _read(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{FILE} cannot be read: {error!r}") from error


def _read(body: Any) -> Manifest:
    if body.pop("headwater") != _SAYS or body.pop("format") != FORMAT:
        raise ValueError(f"expected format {FORMAT} of a rebuild")
    body.pop("complete")
    for part in ("vertices", "edges", "rows"):
        body[part] = {name: FileGroup(**group) for name, group in body[part].items()}
    for listed in ("conflicts", "problems"):
        body[listed] = tuple(body[listed])
    body["journal"] = JournalCounts(**body["journal"])
    return Manifest(**body)


_S3: Final = ("s3", "s3a")


class Files(Protocol):
    """A tree of files."""

    def names(self, folder: str) -> tuple[str, ...]:
        """All files below a folder, sorted, by their path from the root."""

    def open(self, name: str) -> IO[bytes]: ...


class LocalFiles:
    """Below a local folder; names that begin with a dot or ``_`` are none of ours."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self, folder: str) -> tuple[str, ...]:
        paths = (path for path in (self._root / folder).rglob("*") if path.is_file())
        return tuple(sorted(str(p.relative_to(self._root)) for p in paths if p.name[0] not in "._"))

    def open(self, name: str) -> IO[bytes]:
        try:
            return (self._root / name).open("rb")
        except FileNotFoundError as error:
            raise NotFound("file", str(self._root / name)) from error


class S3Files:
    """Below a prefix; ``client`` is boto3's for S3."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    def names(self, folder: str) -> tuple[str, ...]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=f"{self._prefix}{folder}/"
        )
        keys = (item["Key"] for page in pages for item in page.get("Contents", ()))
        names = (key.removeprefix(self._prefix) for key in keys)
        return tuple(sorted(name for name in names if name.rpartition("/")[2][:1] not in "._"))

    def open(self, name: str) -> IO[bytes]:
        from botocore.exceptions import ClientError

        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=f"{self._prefix}{name}")
        except ClientError as error:
            raise NotFound("object", f"s3://{self._bucket}/{self._prefix}{name}") from error
        body: IO[bytes] = answer["Body"]
        return body


def open_files(place: str) -> Files:
    """``s3://bucket/prefix`` (or ``s3a://``), else a local path (or ``file:``)."""
    url = urlsplit(place)
    if url.scheme in _S3:
        import boto3

        return S3Files(boto3.client("s3"), url.netloc, url.path)
    return LocalFiles(Path(url.path if url.scheme == "file" else place))


class Result:
    """The elements and rows of a rebuild, as Neptune's loader and a catalogue would get them."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def manifest(self) -> Manifest:
        """Raises NotFound where there is none: the rebuild has not come to its end."""
        with self._files.open(FILE) as file:
            return read_manifest(file.read().decode("utf-8"))

    def vertices(self, *, empty_strings: bool = True) -> Iterator[Vertex]:
        return self._elements(Vertex, VERTICES, empty_strings)

    def edges(self, *, empty_strings: bool = True) -> Iterator[Edge]:
        return self._elements(Edge, EDGES, empty_strings)

    def _elements(self, kind: type[Element], part: str, empty_strings: bool) -> Iterator[Element]:
        for name in self._files.names(part):
            with self._unpacked(name) as lines:
                yield from read_elements(kind, lines, name, empty_strings=empty_strings)

    def rows(self) -> Iterator[Row]:
        """Raises InvalidInput with the file and its line, for a malformed row."""
        for name in self._files.names(records.ROWS):
            kind = name.split("/")[1]
            with self._unpacked(name) as lines:
                for number, line in enumerate(lines, 1):
                    try:
                        yield records.read_row(kind, line.decode("ascii"))
                    except (ValueError, KeyError, TypeError) as error:
                        raise InvalidInput(f"{name}, line {number}: {error!r}") from error

    def set_aside(self) -> Iterator[str]:
        """The documents that were not translated, a JSON text each."""
        for name in self._files.names(records.SET_ASIDE):
            with self._unpacked(name) as lines:
                for line in lines:
                    yield line.decode("ascii").strip()

    @contextmanager
    def _unpacked(self, name: str) -> Iterator[Iterator[bytes]]:
        with self._files.open(name) as packed, gzip.GzipFile(fileobj=packed) as file:
            try:
                yield iter(file)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise InvalidInput(f"{name} is damaged: {error}") from error
