"""Small estates told by OpenLineage's events, for tests of answers about their columns.

A table may be read with several schemas or with none, have structs, be called by two names (one of
which moves), be overwritten and appended to; columns flow and decide. Everything is given in words:

    run(at=3, read={"s3 d0": ["a", "s.x"]}, write="s3 d1", lineage={"b": [("s3 d0", "s.x", "")]})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from graph_model import identity
from graph_model.facts import Facts, merge
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from tests.openlineage_facts import facts_of_run

START = datetime(2026, 3, 1, tzinfo=UTC)
FIELD = tuple[str, str, str]
"""(table, column, how it decides; "" where its value flows)."""
_PRODUCER = "https://example.org/estates"
_NAMESPACES = {"s3": "s3://lake", "hive": "hive://metastore:9083"}


@dataclass(frozen=True)
class Run:
    """One run. ``read``: by table the columns of its schema, None where the event has none.

    ``named``: tables by the name that a catalog has for them then. ``lineage``: by written column
    its sources; ``rows``: the influences on all of them.
    """

    at: int
    job: int
    read: Mapping[str, Sequence[str] | None]
    write: str
    schema: Sequence[str] | None
    lineage: Mapping[str, Sequence[FIELD]]
    rows: Sequence[FIELD] = ()
    overwrites: bool = True
    named: Mapping[str, str] | None = None


def milliseconds(at: int) -> int:
    return round((START + timedelta(minutes=at)).timestamp() * 1000)


def table_id(table: str) -> str:
    kind, name = table.split()
    uri = f"s3://lake/{name}" if kind == "s3" else f"hive://metastore/db.{name}"
    return identity.dataset_id("", uri)


def event(run: Run) -> dict[str, Any]:
    """The COMPLETE event of a run."""
    output: dict[str, Any] = _dataset(run.write, run.schema, run.named)
    fields = {name: {"inputFields": [_field(*item) for item in listed]}
              for name, listed in run.lineage.items()}  # fmt: skip
    if fields or run.rows:
        lineage = {"fields": fields, "dataset": [_field(*row) for row in run.rows]}
        output["facets"]["columnLineage"] = _facet(lineage)
    change = "OVERWRITE" if run.overwrites else "ALTER"
    output["facets"]["lifecycleStateChange"] = _facet({"lifecycleStateChange": change})
    return {
        "eventType": "COMPLETE",
        "eventTime": (START + timedelta(minutes=run.at)).isoformat(),
        "producer": _PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(UUID(int=run.at + 1))},
        "job": {"namespace": "estate", "name": f"job{run.job}"},
        "inputs": [_dataset(name, columns, run.named) for name, columns in run.read.items()],
        "outputs": [output],
    }


def translated(runs: Iterable[Run]) -> Facts:
    """All facts of these runs."""
    events = [read_event(event(run)) for run in runs]
    return merge([facts_of_run([item]) for item in events if isinstance(item, RunEvent)])


def _facet(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": "https://example.org/facet.json", **body}


def _pair(table: str) -> dict[str, str]:
    kind, name = table.split()
    return {"namespace": _NAMESPACES[kind], "name": name if kind == "s3" else f"db.{name}"}


def _field(table: str, column: str, how: str) -> dict[str, Any]:
    kind = "INDIRECT" if how else "DIRECT"
    answer = {"type": kind, "subtype": how or "IDENTITY", "description": "", "masking": False}
    return {**_pair(table), "field": column, "transformations": [answer]}


def _dataset(
    table: str, columns: Sequence[str] | None, named: Mapping[str, str] | None
) -> dict[str, Any]:
    facets: dict[str, Any] = {}
    if columns is not None:
        facets["schema"] = _facet({"fields": _schema(columns)})
    if named and table in named:
        link = {**_pair(named[table]), "type": "TABLE"}
        facets["symlinks"] = _facet({"identifiers": [link]})
    return {**_pair(table), "facets": facets}


def _schema(columns: Sequence[str]) -> list[dict[str, Any]]:
    """``["a", "s.x", "s.y"]`` => a, and a struct s of x and y."""
    fields: dict[str, list[str]] = {}
    for column in columns:
        first, _, rest = column.partition(".")
        fields.setdefault(first, []).extend([rest] if rest else [])
    return [
        {"name": name, "type": "struct", "fields": [{"name": n, "type": "int"} for n in inner]}
        if inner
        else {"name": name, "type": "int"}
        for name, inner in fields.items()
    ]


# --- generated -----------------------------------------------------------------------------------

TABLES = tuple(f"s3 d{number}" for number in range(4))
NAMES = ("hive n0", "hive n1")
COLUMNS = ("a", "B", "b", "s", "s.x", "s.Y", "t.u.v", "p.q")
_HOWS = ("", "", "", "FILTER", "JOIN", "WINDOW")

columns = st.lists(st.sampled_from(COLUMNS), max_size=4, unique=True)
schemas = st.one_of(st.none(), columns.filter(bool))


@st.composite
def runs(draw: st.DrawFn, at: int) -> Run:
    tables = st.sampled_from((*TABLES, *TABLES, *NAMES))
    read = draw(st.dictionaries(tables, schemas, max_size=3))
    sources = [(table, column) for table in read for column in COLUMNS]
    lineage: dict[str, list[FIELD]] = {}
    rows: list[FIELD] = []
    if sources:
        for name in draw(columns):
            some = draw(st.lists(st.sampled_from(sources), min_size=1, max_size=2, unique=True))
            lineage[name] = [(*item, draw(st.sampled_from(_HOWS))) for item in some]
        for entry in draw(st.lists(st.sampled_from(sources), max_size=2, unique=True)):
            rows.append((*entry, draw(st.sampled_from(("FILTER", "JOIN", "GROUP_BY")))))
    return Run(
        at,
        draw(st.integers(0, 3)),
        read,
        draw(tables),
        draw(schemas),
        lineage,
        rows,
        draw(st.booleans()),
        draw(st.dictionaries(st.sampled_from(TABLES), st.sampled_from(NAMES), max_size=1)),
    )


@st.composite
def estates(draw: st.DrawFn, most: int = 6) -> tuple[Run, ...]:
    count = draw(st.integers(1, most))
    return tuple(draw(runs(position * 10)) for position in range(count))
