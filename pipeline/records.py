"""Facts as records that Spark can carry: all ASCII, one spelling for equal content.

    Vertex  -> ("vertices", "dataset",    "ds_…",  '["ds_…","dataset",[["uri","s3://…"]]]')
    Edge    -> ("edges",    "feeds",      "e_…",   '["e_…","feeds","ds_…","op_…",[…]]')
    Row     -> ("rows",     "DatasetRow", digest of the key,  '["ds_…","s3://…",…]')

``shape`` names the properties with their types (``index:Long,mode:String``): the columns of a file
are the union of the shapes in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from graph_model import facts, identity
from graph_model.errors import GraphRejected
from graph_model.facts import Edge, Facts, Row, Scalar, Vertex, row_key
from graph_model.values import storable
from pipeline.bulk_files import EDGES, VERTICES, type_of

ROWS: Final = "rows"
SET_ASIDE: Final = "set_aside"
COUNTS: Final = "counts"
CONTENT_PARTS: Final = (VERTICES, EDGES, ROWS)

_LONGEST: Final = 1 << 63

#: The kinds of rows by name, as ``facts.py`` spells them.
ROW_KINDS: Final[dict[str, type[Any]]] = {kind.__name__: kind for kind in facts.Row.__args__}


class Record(NamedTuple):
    """``name`` is the label, or the kind of the row; ``content`` is JSON in ASCII."""

    part: str
    name: str
    id: str
    content: str
    shape: str


def records_of(projected: Facts) -> Iterator[Record]:
    """One record a fact. Raises GraphRejected for a fact that no graph can hold."""
    for vertex in projected.vertices:
        yield element_record(vertex)
    for edge in projected.edges:
        yield element_record(edge)
    for row in projected.rows:
        yield row_record(row)


def element_record(element: Vertex | Edge) -> Record:
    ends = (element.out_id, element.in_id) if isinstance(element, Edge) else ()
    for key, value in element.properties:
        _check(key, value)
    return Record(
        EDGES if isinstance(element, Edge) else VERTICES,
        element.label,
        element.id,
        _text([element.id, element.label, *ends, element.properties]),
        ",".join(f"{key}:{type_of(value)}" for key, value in element.properties),
    )


def _check(key: str, value: Scalar) -> None:
    if isinstance(value, str):
        if "\0" in value or (not value.isascii() and storable(value) != value):
            raise GraphRejected(f"{key}: text that no graph can hold: {value[:80]!r}")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise GraphRejected(f"{key}: {value} is no number")
    elif not -_LONGEST <= value < _LONGEST:
        raise GraphRejected(f"{key}: a number beyond 64 bits")


def row_record(row: Row) -> Record:
    """The row as every database stores it, so that equal keys there are equal keys here."""
    kind: type[Any] = type(row)
    kept = kind(*(storable(v) if isinstance(v, str) else v for v in row))
    return Record(ROWS, kind.__name__, identity.digest(*row_key(kept)), _text(kept), "")


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def read_element(part: str, content: str) -> Vertex | Edge:
    """The element of a record."""
    identifier, label, *ends, listed = json.loads(content)
    properties = tuple((key, value) for key, value in listed)
    if part == VERTICES:
        return Vertex(identifier, label, properties)
    return Edge(identifier, label, ends[0], ends[1], properties)


def read_row(name: str, content: str) -> Row:
    """The row of a record; KeyError for an unknown kind, TypeError for another number of fields."""
    row: Row = ROW_KINDS[name](*json.loads(content))
    return row
