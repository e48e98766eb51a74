"""A run -> the documents that agents send of it: pure.

Spline's agent reports six jobs of ten, OpenLineage three, both of them one. One of four appends,
the others overwrite their table. An event of OpenLineage (RENAME) reports the new name of a table
before the run that writes it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from bench.endurance.year import COLUMN_ADDED, RENAMED, Run, Year
from bench.ingest.workload import EVENTS, PLANS
from bench.ingest.workload import Workload as Pairs
from bench.openlineage import events
from bench.openlineage.events import COLUMNS, Json, Table
from bench.translation import Document as Plan

_NAMES: Final = uuid.UUID("a1d5f0a6-6f0c-5b8e-8a64-4e1b1f0f7c11")
_LAKE: Final = "s3://lake"
_RENAME_MS: Final = 300_000
_PLACES: Final = ("first", "second", "output")
_COLUMN_TYPE: Final = "varchar"


@dataclass(frozen=True, slots=True)
class Document:
    """``path``, ``content_type`` and ``body`` of a POST. ``key`` names it in the journal."""

    path: str
    content_type: str
    body: bytes
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of one run, which every agent spells its own way."""

    name: str
    id: str
    application: str
    at: int
    inputs: tuple[Table, Table]
    output: Table
    columns: int
    failed: bool
    appends: bool
    is_shared: bool


def documents(year: Year, number: int) -> Iterator[Document]:
    """Those of the run with this number, in the order in which agents send them."""
    run = year.run(number)
    if year.happens(RENAMED, run):
        yield _rename(year, run)
    facts = _facts_of(year, run)
    agent = year.chance("agent", run.job) % 10
    if agent < 7:
        yield from _pair(facts)
    if agent >= 6:
        yield from _events(facts)


def table(year: Year, job: int, hour: int) -> Table:
    """The table that a job writes in an hour; ``~n`` is the raw table ``n``."""
    if job < 0:
        return _LAKE, f"raw/t{~job:05d}"
    renamed = year.times(RENAMED, job, hour)
    return _LAKE, f"out/{job:06d}{f'_renamed_{renamed}' if renamed else ''}"


def job_name(job: int) -> str:
    return f"load_{job:05d}"


def _facts_of(year: Year, run: Run) -> RunFacts:
    first, second = (table(year, source, run.hour) for source in year.sources(run.job))
    return RunFacts(
        name=job_name(run.job),
        id=str(uuid.uuid5(_NAMES, f"{year.seed} {run.job} {run.hour}")),
        application=f"application_{run.hour:06d}_{run.job:06d}",
        at=run.at,
        inputs=(first, second),
        output=table(year, run.job, run.hour),
        columns=len(COLUMNS) + year.times(COLUMN_ADDED, run.job, run.hour),
        failed=year.fails(run),
        appends=year.chance("append", run.job) % 4 == 0,
        is_shared=year.chance("agent", run.job) % 10 == 6,
    )


# --- Spline's agent ------------------------------------------------------------------------------


def _pair(facts: RunFacts) -> tuple[Document, Document]:
    """The plan, the same bytes whenever the job did the same; then the event."""
    named = zip(_PLACES, ("/".join(item) for item in (*facts.inputs, facts.output)), strict=True)
    text = _skeleton(facts.columns, appends=facts.appends)
    for place, uri in named:
        text = text.replace(_marker(place), uri)
    text = text.replace(_marker("name"), facts.name)
    plan_id = str(uuid.uuid5(_NAMES, text))
    plan = text.replace(_marker("id"), plan_id).encode()
    event: dict[str, Any] = {"planId": plan_id, "timestamp": facts.at, "durationNs": 21_000_000_000}
    event["extra"] = {
        "appId": facts.application,
        "readMetrics": {},
        "writeMetrics": {"numOutputRows": 1_000 + facts.at % 1_000},
    }
    if facts.failed:
        event["error"] = "org.apache.spark.SparkException: Job aborted due to stage failure"
    kind = Pairs.content_type
    return (
        Document(PLANS, kind, plan, ("plan", plan_id)),
        Document(EVENTS, kind, json.dumps([event]).encode(), ("event", plan_id, str(facts.at))),
    )


@cache
def _skeleton(columns: int, *, appends: bool) -> str:
    """A plan with marks in place of names: two tables are joined, their columns combined."""
    plan = Plan()
    top, left = plan.read(_marker("first"), *COLUMNS)
    other, right = plan.read(_marker("second"), *COLUMNS)
    matches = plan.call(
        "equalto", "expressions.EqualTo", "expr.Binary", _of(left[0]), _of(right[1])
    )
    top = plan.step("Join", [top, other], [*left, *right], condition=matches, joinType="INNER")
    output = [
        plan.column(name, plan.alias(name, plan.plus(_of(left[place % len(left)]), _of(item))))
        for place, (name, item) in enumerate(
            zip(columns_of(columns), [*right, *right, *right], strict=False)
        )
    ]
    body = plan.written(plan.project(top, output))
    body["id"], body["name"] = _marker("id"), _marker("name")
    body["operations"]["write"] |= {"outputSource": _marker("output"), "append": appends}
    return json.dumps(body).replace("s3://lake/{", "{")


def columns_of(count: int) -> Mapping[str, str]:
    """Name and type of the first so many columns of a table."""
    added = {f"added_{number}": _COLUMN_TYPE for number in range(1, count - len(COLUMNS) + 1)}
    return {**COLUMNS, **added}


def _marker(name: str) -> str:
    return f"{{{name}}}"


def _of(attribute: str) -> Json:
    return {"__attrId": attribute}


# --- OpenLineage ---------------------------------------------------------------------------------


def _events(facts: RunFacts) -> tuple[Document, Document]:
    """START and the end."""
    common = events.common(facts.id, _run_facets(facts), ("default", _spark_name(facts)), {})
    start = {"eventType": "START", "eventTime": _time(facts.at - 21_000), **common}
    start |= {"inputs": [], "outputs": []}
    columns = columns_of(facts.columns)
    end = {
        "eventType": "FAIL" if facts.failed else "COMPLETE",
        "eventTime": _time(facts.at),
        **common,
    }
    end["inputs"] = [events.dataset(item) for item in facts.inputs]
    output = events.written(facts.output, facts.inputs, 1_000 + facts.at % 1_000, columns)
    if not facts.appends:
        output["facets"]["lifecycleStateChange"] = _lifecycle(lifecycleStateChange="OVERWRITE")
    end["outputs"] = [output]
    return _event(start), _event(end)


def _spark_name(facts: RunFacts) -> str:
    """A job of its own, or a command of the application whose plan the other agent sends."""
    command = "execute_insert_into_hadoop_fs_relation_command"
    return (
        f"{facts.name}.{command}.{facts.output[1].replace('/', '_')}"
        if facts.is_shared
        else facts.name
    )


def _run_facets(facts: RunFacts) -> Json:
    facets = {
        "processing_engine": events.facet("ProcessingEngineRunFacet", version="3.5.1", name="spark")
    }
    if facts.is_shared:
        properties = {"spark.app.name": facts.name, "spark.app.id": facts.application}
        facets["spark_properties"] = events.facet("SparkPropertyFacet", properties=properties)
        facets["spark_applicationDetails"] = events.facet(
            "SparkApplicationDetailsFacet", applicationId=facts.application, appName=facts.name
        )
    if facts.failed:
        facets["errorMessage"] = events.facet(
            "ErrorMessageRunFacet", message="Job aborted", programmingLanguage="JAVA"
        )
    return facets


def _rename(year: Year, run: Run) -> Document:
    former = dict(
        zip(("namespace", "name"), table(year, run.job, run.hour - run.period), strict=True)
    )
    current = events.dataset(table(year, run.job, run.hour), {})
    current["facets"] = {
        "lifecycleStateChange": _lifecycle(lifecycleStateChange="RENAME", previousIdentifier=former)
    }
    key = str(uuid.uuid5(_NAMES, f"rename {year.seed} {run.job} {run.hour}"))
    event = events.common(key, {}, ("default", f"rename_{run.job:05d}"), {})
    event |= {"eventType": "COMPLETE", "eventTime": _time(run.at - _RENAME_MS)}
    return _event({**event, "inputs": [], "outputs": [current]})


def _lifecycle(**content: object) -> Json:
    return events.facet("LifecycleStateChangeDatasetFacet", **content)


def _event(event: Json) -> Document:
    key = ("run", event["run"]["runId"], event["eventType"])
    return Document(events.PATH, events.CONTENT_TYPE, events.encode(event), key)


def _time(at: int) -> str:
    return events.spell_time(datetime.fromtimestamp(at / 1000, UTC))
