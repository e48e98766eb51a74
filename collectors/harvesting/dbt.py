"""dbt's artefacts: manifest.json, catalog.json and run_results.json of a folder or an S3 prefix.

    manifest     models, seeds, snapshots, sources, exposures, tests; the compiled text of each
    catalog      the columns that the warehouse has (dbt docs generate)
    results      what ran, when, how it ended
    info_schema  the columns of each node, as dbt 2's static analysis found them: Parquet files,
                 which pyarrow reads where it is installed
    telemetry    what ran, from dbt 2's JSON lines, where there is no run_results.json

A node that ran is a run of the job of its unique id, as dbt-ol names it from dbt's log; one that
was only compiled is declared. Artefacts are read by key, not by a version's classes: dbt 1 and 2
differ in what else they hold.
"""

from __future__ import annotations

import importlib.util
import json
import posixpath
import uuid
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from collectors.harvesting.amazon import open_client, requests_to
from collectors.harvesting.fusion import (
    EVOLUTIONS,
    ColumnSource,
    DbtAnalysis,
    ReadRows,
    Row,
    parquet_rows,
    read_analysis,
    results_of_telemetry,
)
from collectors.harvesting.queries import (
    Event,
    error_facets,
    event_of_job,
    event_of_run,
    facet,
    table_facets,
)
from collectors.harvesting.rounds import Harvested
from graph_model.errors import ConfigurationError, HeadwaterError, Unavailable
from graph_model.json_fields import JsonObject
from graph_model.sql import DIALECTS, qualified_name, quoted_name, translate
from graph_model.values import parse_instant

_RUNS: Final = uuid.UUID("0d1d7e0c-6b2f-5a53-9a5b-3f0f1c0b7c11")
_MOST_BYTES: Final = 1 << 29
_MOST_LEVELS: Final = 100  # ephemeral models on ephemeral models
_S3: Final = "s3://"
_STATES: Final[Mapping[str, str]] = {
    "success": "COMPLETE",
    "partial success": "COMPLETE",
    "error": "FAIL",
    "fail": "FAIL",
    "canceled": "ABORT",
}
_VERDICTS: Final[Mapping[str, bool]] = {
    "pass": True, "success": True, "warn": False, "fail": False, "error": False,
}  # fmt: skip
_MADE: Final = frozenset({"model", "seed", "snapshot"})
_REPLACING: Final = frozenset({"table", "view", "materialized_view", "seed"})
_COLUMNS: Final = "info_schema/v1/dbt.node_columns.parquet"
_LINEAGE: Final = "info_schema/v1/dbt.column_lineage.parquet"
_PYARROW: Final = "pip install 'pyarrow>=15'"
_STRENGTH: Final = tuple(EVOLUTIONS)
_DIALECTS: Final[Mapping[str, str]] = {"sqlserver": "tsql", "fabric": "tsql", "synapse": "tsql"}


class DbtArtifacts:
    """A HarvestSource: the artefacts of one folder, or of every folder below an S3 prefix.

    ``datasets`` is the namespace of dbt's tables, which no artefact says: postgres://host:5432.
    ``telemetry`` is the file of ``dbt --otel-file-name``, as seen from each folder.
    """

    name = "dbt"
    overlap: int | None = None
    kept: int | None = None

    def __init__(
        self,
        place: str,
        datasets: str,
        region: str = "",
        jobs: str = "",
        telemetry: str = "",
        say: Callable[[str], None] = print,
        read_rows: ReadRows = parquet_rows,
    ) -> None:
        self._telemetry = telemetry
        self._say = say
        self._read_rows = read_rows
        self._place = place
        self._datasets = datasets
        self._jobs = jobs or "dbt"
        self._s3 = open_client("s3", region) if place.startswith(_S3) else None

    def settings(self) -> Mapping[str, str]:
        parquet = importlib.util.find_spec("pyarrow") or self._read_rows is not parquet_rows
        return {
            "artefacts": self._place,
            "datasets": self._datasets,
            "jobs": self._jobs,
            "info_schema": "read" if parquet else f"not read: {_PYARROW}",
            **({"telemetry": self._telemetry} if self._telemetry else {}),
        }

    def findings(self, since: int, known: Container[str]) -> Iterator[Harvested]:
        """All nodes, whatever ``since``: an artefact may come late. What is taken is known by its
        invocation.
        """
        del since, known
        for folder in self._folders():
            manifest = self._read(folder, "manifest.json")
            if manifest is None:
                raise Unavailable(f"{folder}: no manifest.json (dbt compile writes it)")
            if _compiled_at(manifest) is None:
                raise HeadwaterError(f"{folder}/manifest.json: no metadata.generated_at")
            project = _Project(
                manifest,
                self._read(folder, "catalog.json") or {},
                self._results(folder),
                read_analysis(self._rows(folder, _COLUMNS), self._rows(folder, _LINEAGE)),
                self._datasets,
                self._jobs,
            )
            for finding in project.findings():
                yield Harvested(f"{folder} {finding.key}", finding.at, finding.events, finding.mark)

    # --- where they are --------------------------------------------------------------------------

    def _folders(self) -> Iterator[str]:
        if self._s3 is None:
            if not Path(self._place).is_dir():
                raise Unavailable(f"{self._place}: no such folder (dbt compile makes its target)")
            yield self._place.rstrip("/")
            return
        bucket, _, prefix = self._place.removeprefix(_S3).partition("/")
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        with requests_to("S3"):
            for page in pages:
                for entry in page.get("Contents", ()):
                    folder, _, name = entry["Key"].rpartition("/")
                    if name == "manifest.json":
                        yield f"{_S3}{bucket}/{folder}"

    def _read(self, folder: str, name: str) -> JsonObject | None:
        """None where there is none. Raises HeadwaterError for what is no artefact."""
        try:
            content = self._content(folder, name)
            artefact = None if content is None else json.loads(content)
        except (ValueError, RecursionError) as error:  # dbt may be writing it
            raise Unavailable(f"{folder}/{name}: expected JSON") from error
        except OSError as error:
            raise ConfigurationError(f"{folder}/{name}: {error.strerror}") from error
        if not isinstance(artefact, dict | None):
            raise HeadwaterError(f"{folder}/{name}: expected a JSON object")
        return artefact

    def _results(self, folder: str) -> JsonObject:
        """What ran: of run_results.json, else of the telemetry; {} without either."""
        results = self._read(folder, "run_results.json")
        if results is not None or not self._telemetry:
            return results or {}
        try:
            content = self._content(folder, self._telemetry)
        except OSError as error:
            raise ConfigurationError(f"{folder}/{self._telemetry}: {error.strerror}") from error
        if content is None:
            self._say(f"  {folder}: neither run_results.json nor {self._telemetry}")
            return {}
        results, unread = results_of_telemetry(content)
        if unread:
            self._say(f"  {folder}/{self._telemetry}: {unread:,} lines are no records of dbt's")
        return results

    def _rows(self, folder: str, name: str) -> Sequence[Row]:
        """() where dbt wrote no such file, or nothing is installed that reads it."""
        try:
            content = self._content(folder, name)
            return () if content is None else self._read_rows(content)
        except ImportError:
            return ()
        except ValueError as error:  # dbt may be writing it
            raise Unavailable(f"{folder}/{name}: expected Parquet") from error
        except OSError as error:
            raise ConfigurationError(f"{folder}/{name}: {error}") from error

    def _content(self, folder: str, name: str) -> bytes | None:
        if self._s3 is None:
            path = Path(folder) / name
            if not path.exists():
                return None
            with path.open("rb") as file:
                return _bounded(file.read(_MOST_BYTES + 1), path)
        bucket, _, prefix = folder.removeprefix(_S3).partition("/")
        key = posixpath.normpath(f"{prefix}/{name}").lstrip("/")
        with requests_to("S3"):
            try:
                answer = self._s3.get_object(Bucket=bucket, Key=key)
            except self._s3.exceptions.NoSuchKey:
                return None
            return _bounded(answer["Body"].read(_MOST_BYTES + 1), f"{folder}/{name}")


def _bounded(content: bytes, where: object) -> bytes:
    if len(content) > _MOST_BYTES:
        raise HeadwaterError(f"{where}: larger than {_MOST_BYTES >> 20} MB")
    return content


# --- artefacts -> events -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Node:
    """A node, source or exposure of a manifest, by key and of whatever version."""

    id: str
    body: JsonObject

    @property
    def kind(self) -> str:
        return self.text("resource_type")

    @property
    def materialized(self) -> str:
        return "seed" if self.kind == "seed" else str(self.object("config").get("materialized"))

    @property
    def relation(self) -> tuple[str, ...]:
        """Database, schema and table; () for what is no table."""
        table = self.text("alias") or self.text("identifier") or self.text("name")
        place = (self.text("database"), self.text("schema"))
        return (*(part for part in place if part), table)

    @property
    def parents(self) -> Sequence[str]:
        return _texts(self.object("depends_on").get("nodes"))

    @property
    def owner(self) -> str:
        owner = self.body.get("owner") or self.meta("owner")
        if isinstance(owner, Mapping):
            owner = owner.get("email") or owner.get("name")
        if isinstance(owner, list):
            owner = next(iter(owner), "")
        return owner if isinstance(owner, str) else ""

    @property
    def tags(self) -> Sequence[str]:
        return _texts(self.body.get("tags"))

    def meta(self, name: str) -> Any:
        return self.object("meta").get(name) or _object(self.object("config").get("meta")).get(name)

    def text(self, name: str) -> str:
        value = self.body.get(name)
        return value if isinstance(value, str) else ""

    def object(self, name: str) -> JsonObject:
        return _object(self.body.get(name))


class _Project:
    """The artefacts of one invocation."""

    def __init__(
        self,
        manifest: JsonObject,
        catalog: JsonObject,
        results: JsonObject,
        analysis: DbtAnalysis,
        datasets: str,
        jobs: str,
    ) -> None:
        self._catalog = catalog
        self._analysis = analysis
        self._datasets = datasets
        self._jobs = jobs
        said = _object(manifest.get("metadata"))
        adapter = str(said.get("adapter_type") or "")
        self._dialect = _DIALECTS.get(adapter, adapter)
        self._compiled_at = _compiled_at(manifest) or 0
        self._invocation = str(_object(results.get("metadata")).get("invocation_id") or "")
        self._refreshed = _object(results.get("args")).get("full_refresh") is True
        self._mark = self._invocation or str(said.get("invocation_id") or self._compiled_at)
        parts = ("nodes", "sources", "exposures")
        self._nodes = {
            key: _Node(key, body)
            for part in parts
            for key, body in _object(manifest.get(part)).items()
            if isinstance(body, dict)
        }
        listed = results.get("results")
        self._results = {
            str(result["unique_id"]): result
            for result in (listed if isinstance(listed, list) else ())
            if isinstance(result, dict) and "unique_id" in result
        }

    def findings(self) -> Iterator[Harvested]:
        for node in self._nodes.values():
            if node.kind in _MADE and node.materialized != "ephemeral":
                yield Harvested(node.id, self._compiled_at, partial(self._made, node), self._mark)
            elif node.kind == "exposure":
                made = partial(self._exposed, node)
                yield Harvested(node.id, self._compiled_at, made, self._mark)
        for tested, tests in self._tests().items():
            made = partial(self._tested, tested, tests)
            yield Harvested(f"tests of {tested}", self._compiled_at, made, self._mark)

    # --- what dbt makes --------------------------------------------------------------------------

    def _made(self, node: _Node) -> Sequence[Event]:
        job = self._job(node, node.kind.upper())
        inputs = [self._dataset(parent) for parent in self._read_by(node)]
        output = self._dataset(node)
        if (lineage := self._lineage(node)) is not None:
            output["facets"]["columnLineage"] = lineage
        if self._replaces(node):
            output["facets"]["lifecycleStateChange"] = facet(
                "LifecycleStateChangeDatasetFacet", lifecycleStateChange="OVERWRITE"
            )
        data = {"inputs": inputs, "outputs": [output]}
        result = self._results.get(node.id)
        if result is None:
            return (event_of_job(self._compiled_at, job) | data,) if node.kind != "seed" else ()
        state = _STATES.get(str(result.get("status")))
        if state is None:  # skipped
            return ()
        return self._run(node.id, job, result, state, data)

    def _replaces(self, node: _Node) -> bool:
        """A model's own ``full_refresh`` goes before that of the run."""
        if node.materialized != "incremental":
            return node.materialized in _REPLACING
        own = node.object("config").get("full_refresh")
        return own if isinstance(own, bool) else self._refreshed

    def _run(
        self, key: str, job: JsonObject, result: JsonObject, state: str, data: Event
    ) -> Sequence[Event]:
        started, ended = _times(result)
        ended = ended or self._compiled_at
        run: Event = {"runId": str(uuid.uuid5(_RUNS, f"{self._invocation} {key}"))}
        failed = str(result.get("message") or "") if state == "FAIL" else ""
        with_error = {**run, "facets": error_facets(failed)} if failed else run
        return (
            event_of_run(started or ended, job, run, "START"),
            event_of_run(ended, job, with_error, state) | data,
        )

    def _read_by(self, node: _Node) -> Iterator[_Node]:
        """The tables that a node reads, through ephemeral models, which are none."""
        waiting, seen = [(node, 0)], set[str]()
        while waiting:
            current, level = waiting.pop()
            for key in current.parents:
                parent = self._nodes.get(key)
                if parent is None or key in seen:
                    continue
                seen.add(key)
                if parent.materialized == "ephemeral" and level < _MOST_LEVELS:
                    waiting.append((parent, level + 1))
                elif parent.kind in _MADE or parent.kind == "source":
                    yield parent

    # --- who uses it, and what is expected of it --------------------------------------------------

    def _exposed(self, node: _Node) -> Sequence[Event]:
        job = self._job(node, node.text("type").upper() or "EXPOSURE")
        inputs = [self._dataset(parent) for parent in self._read_by(node)]
        return (event_of_job(self._compiled_at, job) | {"inputs": inputs, "outputs": []},)

    def _tests(self) -> Mapping[str, list[_Node]]:
        """The tests that ran, by the table that they are about."""
        tests: dict[str, list[_Node]] = {}
        for node in self._nodes.values():
            if node.kind in {"test", "unit_test"} and node.id in self._results:
                about = node.text("attached_node") or next(iter(node.parents), "")
                if about in self._nodes:
                    tests.setdefault(about, []).append(node)
        return tests

    def _tested(self, key: str, tests: Sequence[_Node]) -> Sequence[Event]:
        node = self._nodes[key]
        assertions = [
            {
                "assertion": test.object("test_metadata").get("name") or test.text("name"),
                "success": _VERDICTS[status],
                **({"column": column} if (column := test.text("column_name")) else {}),
            }
            for test in tests
            if (status := str(self._results[test.id].get("status"))) in _VERDICTS
        ]
        if not assertions:
            return ()
        dataset = self._dataset(node)
        dataset["inputFacets"] = {
            "dataQualityAssertions": facet(
                "DataQualityAssertionsDatasetFacet", assertions=assertions
            )
        }
        job = {"namespace": self._jobs, "name": f"{key}.test", "facets": _job_type("TEST")}
        last = max(
            (self._results[test.id] for test in tests), key=lambda result: _times(result)[1] or 0
        )
        data = {"inputs": [dataset], "outputs": []}
        return self._run(f"{key}.test", job, last, "COMPLETE", data)

    # --- parts of an event -----------------------------------------------------------------------

    def _job(self, node: _Node, kind: str) -> dict[str, Any]:
        facets = _job_type(kind)
        if text := self._text(node):
            facets["sql"] = facet("SQLJobFacet", query=text, dialect=self._dialect)
        if url := node.text("url"):
            facets["sourceCodeLocation"] = facet(
                "SourceCodeLocationJobFacet", type=kind.lower(), url=url
            )
        facets |= _said_about(node, "JobFacet")
        return {"namespace": self._jobs, "name": node.id, "facets": facets}

    def _text(self, node: _Node) -> str:
        """The compiled query as the statement that names its columns: dbt fills by name."""
        query = node.text("compiled_code") or node.text("compiled_sql")
        known = self._dialect in DIALECTS and node.text("language") != "python"
        if not query.strip() or not known or node.kind not in _MADE:
            return ""
        return f"CREATE TABLE {quoted_name(node.relation, self._dialect)} AS {query}"

    def _lineage(self, node: _Node) -> dict[str, Any] | None:
        """The columns as dbt's analysis has them, where the compiled text leaves some open: the
        text has the expressions, and tells conditions apart.
        """
        if not self._analysis.sources.get(node.id) or self._is_read(node):
            return None
        fields: dict[str, dict[str, Any]] = {}
        whole: list[dict[str, Any]] = []
        for source in self._stored_sources(node.id):
            table = self._nodes[source.node]
            flow = {
                "namespace": self._datasets,
                "name": qualified_name(table.relation),
                "field": source.source,
                "transformations": [dict(EVOLUTIONS[source.evolution])],
            }
            if source.column:
                fields.setdefault(source.column, {"inputFields": []})["inputFields"].append(flow)
            else:
                whole.append(flow)
        return facet("ColumnLineageDatasetFacet", fields=fields, dataset=whole)

    def _is_read(self, node: _Node) -> bool:
        """Whether the translator of SQL finds all columns in the compiled text."""
        text = self._text(node)
        schemas = {
            qualified_name(parent.relation): [name for name, _ in columns]
            for parent in self._read_by(node)
            if (columns := self._columns(parent))
        }
        statements = translate(text, self._dialect, schemas=schemas) if text else ()
        return bool(statements) and not any(statement.gaps for statement in statements)

    def _stored_sources(self, key: str) -> Iterator[ColumnSource]:
        """The columns of tables behind those of a node, through ephemeral models."""
        waiting = [(source, 0) for source in reversed(self._analysis.sources.get(key, ()))]
        seen = set[ColumnSource]()
        while waiting:
            source, level = waiting.pop()
            parent = self._nodes.get(source.node)
            if parent is None or source in seen or level > _MOST_LEVELS:
                continue
            seen.add(source)
            if parent.materialized != "ephemeral":
                yield source
                continue
            for inner in reversed(self._analysis.sources.get(source.node, ())):
                if not inner.column:  # a condition inside decides over all columns
                    waiting.append((inner, level + 1))
                elif inner.column.lower() == source.source.lower():
                    strongest = max(source.evolution, inner.evolution, key=_STRENGTH.index)
                    through = inner._replace(column=source.column, evolution=strongest)
                    waiting.append((through, level + 1))

    def _dataset(self, node: _Node) -> dict[str, Any]:
        columns = self._columns(node)
        facets = table_facets(columns=columns, described=_descriptions(node))
        facets |= _said_about(node, "DatasetFacet")
        name = qualified_name(node.relation)
        return {"namespace": self._datasets, "name": name, "facets": facets}

    def _columns(self, node: _Node) -> tuple[tuple[str, str], ...]:
        """Those that the warehouse has, else those of dbt's analysis, else the documented ones."""
        part = "sources" if node.kind == "source" else "nodes"
        had = _object(_object(_object(self._catalog.get(part)).get(node.id)).get("columns"))
        if not had and (analysed := self._analysis.columns.get(node.id)):
            return tuple(analysed)
        known = [_object(column) for column in (had or node.object("columns")).values()]
        known.sort(key=lambda column: index if isinstance(index := column.get("index"), int) else 0)
        return tuple(
            (str(column.get("name")), str(column.get("type") or column.get("data_type") or ""))
            for column in known
            if column.get("name")
        )


def _compiled_at(manifest: JsonObject) -> int | None:
    return _instant(_object(manifest.get("metadata")).get("generated_at"))


def _descriptions(node: _Node) -> Mapping[str, str]:
    """Column => its description, by its name in lower case."""
    listed = (_object(column) for column in node.object("columns").values())
    return {
        str(column.get("name")).lower(): str(column["description"])
        for column in listed
        if column.get("description")
    }


def _said_about(node: _Node, kind: str) -> dict[str, Any]:
    """The facets of what people say about a node; ``kind`` ends their names."""
    facets: dict[str, Any] = {}
    if description := node.text("description"):
        facets["documentation"] = facet(f"Documentation{kind}", description=description)
    if owner := node.owner:
        owners = [{"name": owner, "type": "OWNER"}]
        facets["ownership"] = facet(f"Ownership{kind}", owners=owners)
    if node.tags:
        tags = [{"key": tag, "value": "true", "source": "DBT"} for tag in node.tags]
        facets["tags"] = facet(f"Tags{kind}", tags=tags)
    return facets


def _job_type(kind: str) -> dict[str, Any]:
    return {
        "jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="DBT", jobType=kind)
    }


def _times(result: JsonObject) -> tuple[int | None, int | None]:
    """When a node began and ended to execute (epoch ms)."""
    listed = result.get("timing")
    for phase in listed if isinstance(listed, list) else ():
        if isinstance(phase, dict) and phase.get("name") == "execute":
            return _instant(phase.get("started_at")), _instant(phase.get("completed_at"))
    return None, None


def _instant(text: object) -> int | None:
    """Epoch milliseconds of a time of dbt's, which is UTC where it names no zone."""
    try:
        return parse_instant(str(text))
    except ValueError:
        return None


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> Sequence[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else ()
