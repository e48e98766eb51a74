"""A reader of a rebuild's result in a local folder or a prefix on S3. Needs no Spark."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, Protocol
from urllib.parse import urlsplit

from graph_model.errors import InvalidInput, NotFound
from graph_model.facts import Edge, Row, Vertex
from pipeline.neptune.csv import EDGES, VERTICES, Element, read_elements
from pipeline.output import records
from pipeline.output.manifest import FILE, Manifest, read_manifest

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
        found = (path for path in (self._root / folder).rglob("*") if path.is_file())
        return tuple(sorted(str(p.relative_to(self._root)) for p in found if p.name[0] not in "._"))

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
        found = (key.removeprefix(self._prefix) for key in keys)
        return tuple(sorted(name for name in found if name.rpartition("/")[2][:1] not in "._"))

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
