"""Declarative Pipelines: each flow of a pipeline is a job of its own.

``spark-pipelines run`` starts a Python process that hosts the Connect server, so its listener hears
the writes of all flows, in one application. A flow that streams names its query, as
``spark_catalog.default.hours_worked``; one that does not (a materialised view) has the name of the
table that it writes. The pipeline's name is in its specification.

    payroll: managers, hours_worked -> jobs payroll/default.managers, payroll/default.hours_worked
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final

from spark_agent_config.capture.captured import Application, CapturedQuery

#: The program of ``spark-pipelines``, inside PySpark.
_PROGRAM: Final = ("pyspark", "pipelines", "cli.py")
_COMMANDS: Final = frozenset({"run", "dry-run"})
_SPEC: Final = "--spec"
_SPECS: Final = ("spark-pipeline.yaml", "spark-pipeline.yml")
_OWN_CATALOG: Final = "spark_catalog."
_JOB, _NAMESPACE = "job", "namespace"


def pipeline_of(arguments: Sequence[str], folder: Path) -> str | None:
    """The pipeline that this process runs, by its command line; None: it runs none.

    A specification that cannot be read names it by its folder: the run fails, or knows better.
    """
    program, *rest = arguments or [""]
    if PurePath(program).parts[-3:] != _PROGRAM or not _COMMANDS.intersection(rest[:1]):
        return None
    spec = _given_spec(rest, folder) or _nearest_spec(folder)
    if spec is None:
        return folder.name
    try:
        import yaml  # spark-pipelines needs it, no other job of Spark does

        name = yaml.safe_load(spec.read_text("utf-8"))["name"]
    except Exception:
        name = None
    return name if isinstance(name, str) and name else spec.absolute().parent.name


def of_flow(application: Application, query: CapturedQuery) -> Application:
    """The application as the flow that made a write: the flow is the job, in the pipeline's
    namespace. A job that is set replaces the pipeline's name; in a namespace that is set, that name
    is part of the job's.
    """
    if application.pipeline is None:
        return application
    (pipeline,) = application.labels.get(_JOB) or (application.pipeline,)
    flow = _flow_of(query)
    if _NAMESPACE in application.labels:
        return replace(application, labels={**application.labels, _JOB: (f"{pipeline}.{flow}",)})
    labels = {_JOB: (flow,), _NAMESPACE: (pipeline,)}
    return replace(application, labels={**application.labels, **labels})


def _flow_of(query: CapturedQuery) -> str:
    """``default.managers``; a catalog that is not Spark's own counts."""
    table = query.target.table
    if query.stream is not None:
        name = query.stream
    elif table is not None:
        name = f"{table.database}.{table.name}" if table.database else table.name
    else:
        name = query.target.uri.rstrip("/").rpartition("/")[2]
    return name.removeprefix(_OWN_CATALOG)


def _given_spec(arguments: Sequence[str], folder: Path) -> Path | None:
    for position, argument in enumerate(arguments):
        if argument.startswith(f"{_SPEC}="):
            return folder / argument.partition("=")[2]
        if argument == _SPEC:
            return next((folder / path for path in arguments[position + 1 :]), None)
    return None


def _nearest_spec(folder: Path) -> Path | None:
    """In the folder, else in the nearest one above it, as ``spark-pipelines`` looks for it."""
    places = (above / name for above in (folder, *folder.parents) for name in _SPECS)
    return next((place for place in places if place.is_file()), None)
