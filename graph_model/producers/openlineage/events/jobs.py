"""The job of an OpenLineage run, its place in the Spark application, its run key.

Spark's agent names a job after the physical plan (``app.adaptive_spark_plan.out``), so that adding
a join renames it; its queries belong to the application. A command there is a logical plan of
the application's job, as it is for Spline.

    employee_curate                                          the application
    employee_curate.execute_insert_into_hadoop_fs_relation_command.out    a command
    employee_curate.hash_aggregate                           a query: a command that only reads
    employee_curate.collect_limit                            a helper: it reads for another one

AWS Glue names the application after its run, and old clients report nothing else of it:

    nativespark_curate_jr_0a1b2c3d.execute_save_into_data_source_command.out    a command of curate

dbt reports each statement of a model as a run of its own, below the model's; they are the model's:

    model.shop.orders                                        the job
    model.shop.orders.sql.3                                  a helper

Airflow reports each query of a task so, under a name that its versions change; what the query
reads and writes is a logical plan of the task's job:

    nightly.load                                             the job
    nightly.load.query.1, .hll_query.1, .manual_query.1      a query
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from graph_model import identity, labels, naming
from graph_model.naming import JobName, Rules
from graph_model.producers.elements import (
    DYNAMIC_COMMANDS,
    INSERTING_COMMANDS,
    dispatched_run,
)
from graph_model.producers.openlineage.events.accumulate import JobStatement, RunState
from graph_model.producers.openlineage.events.facets import (
    Facets,
    JobType,
    Parent,
    RunReference,
    value_of,
)

Role = Literal["run", "application", "command"]

_PRODUCER: Final = re.compile(
    r"/tree/(?P<version>[^/]{1,64})/(?:integration|client)/(?P<name>[^/?#]{1,64})"
)
_DISPATCHER: Final = re.compile(r"/spline-spark-agent/tree/release/(?P<version>[^/]{1,64})$")
#: Where the dispatcher's setting ``namespace`` is not set.
_DISPATCHERS_NAMESPACE: Final = "default"
_GLUE_APPLICATION: Final = re.compile(r"nativespark_[^.]{1,1000}_jr_[0-9a-f]{8,64}(?![0-9a-f])")
_LONGEST_PRODUCER: Final = 200
_EXECUTE: Final = "execute_"
_OVERWRITE_MODE: Final = "spark.sql.sources.partitionOverwriteMode"
_DATAPROC: Final = ("gcp_dataproc", "gcp_dataproc_spark")


@dataclass(frozen=True, slots=True)
class JobPlace:
    """A run's job, and the run's identity. ``command`` is the class of Spark's command, "" for
    none.

    ``application_run`` is the client's id for the run of Spark's application, "" elsewhere.
    ``part``: the run is a part of the one whose vertex it has, an application's or its parent's.
    ``run_key`` identifies the graph's run vertex in the capture scope: the application's id where
    the events report it, so that both agents' reports become one run.
    """

    job: JobName
    role: Role
    command: str
    application_id: str
    application_run: str
    run_key: str
    part: bool
    parent: RunReference | None
    parent_job: JobName | None
    root: RunReference | None
    root_job: JobName | None

    @property
    def folded(self) -> bool:
        """Whether the run's job is its parent's, so that it is shown as part of that job."""
        return self.role == "command"


def place_job(statement: JobStatement, run_id: str, scope: str, rules: Rules) -> JobPlace:
    """The job and the identity of a run."""
    parents = parent_of(statement.run_facets)
    parent, root = (parents.parent, parents.root) if parents else (None, None)
    if parent is not None and _is_part(statement, parent, rules):
        return _place_of_part(parent, root, rules)
    if not is_spark(statement, rules):
        job = own_job(statement.namespace, statement.name, rules)
        return JobPlace(
            job, "run", "", "", "", run_id, False, parent, _named(parent, rules), root,
            _named(root, rules),
        )  # fmt: skip
    role = _role(statement, parent, rules)
    job = _application_job(statement, role, parent, scope, rules)
    application = _application_id(statement.run_facets)
    inside = role == "command" and parent is not None
    own = run_id if role == "application" else parent.run_id if inside and parent else ""
    run_key = application or own or run_id
    root_is_application = inside and (root is None or root.run_id == (parent and parent.run_id))
    return JobPlace(
        job=job,
        role=role,
        command=_command(statement, parent, rules) if role == "command" else "",
        application_id=application,
        application_run=own,
        run_key=run_key,
        part=role == "command" and run_key != run_id,
        parent=parent,
        parent_job=job if inside else _named(parent, rules),
        root=root,
        root_job=job if root_is_application and root else _named(root, rules),
    )


def _is_part(statement: JobStatement, parent: RunReference, rules: Rules) -> bool:
    """Whether the run is a step of its parent's job: by the type of its job one of its queries,
    named below it, or a helper that touches no dataset.
    """
    kind = value_of(statement.job_facets, "jobType", JobType)
    if kind is None:
        return False
    if kind.type in rules.query_job_types and _is_below(statement.name, parent.name):
        return True
    if statement.inputs or statement.outputs or statement.entries:
        return False
    return (kind.integration, kind.type) in rules.helper_job_types


def _place_of_part(parent: RunReference, root: RunReference | None, rules: Rules) -> JobPlace:
    """The place of its parent: the parent's job and run."""
    job = own_job(parent.namespace, parent.name, rules)
    return JobPlace(
        job, "command", "", "", "", parent.run_id, True, parent, job, root,
        _named(root, rules) or job,
    )  # fmt: skip


def is_dispatched(producer: str) -> bool:
    """Whether the OpenLineage dispatcher of Spline's agent sent the events of a run."""
    return _DISPATCHER.search(producer[:_LONGEST_PRODUCER]) is not None


def place_dispatched(state: RunState, scope: str, rules: Rules) -> JobPlace:
    """The place of a run of the dispatcher, which is one write of an application: the job is the
    one of the agent's own plans.

    Up to 2.2 the agent's event is a facet of the run, with the application's id. From 2.3 on a run
    that was told whole has a key that the agent's event gives, too (``elements.dispatched_run``).
    """
    stated = state.statement
    namespace = stated.namespace if stated.namespace != _DISPATCHERS_NAMESPACE else ""
    job = naming.job_name({rules.namespace_label: (namespace,)}, stated.name, scope, rules)
    application = stripped(
        facet_body(stated.run_facets, "splineEvent", "payload", "extra"), "appId"
    )
    key = application or _dispatched_key(state, scope, rules) or state.run_id
    part = bool(application)
    return JobPlace(job, "run", "", application, "", key, part, None, None, None, None)


def _dispatched_key(state: RunState, scope: str, rules: Rules) -> str:
    """Nothing where the start, the end or the dataset is not known."""
    outputs = state.statement.outputs
    if state.ended_at is None or not state.start_told or len(outputs) != 1:
        return ""
    uri = naming.openlineage_uri(*outputs[0].key, rules)
    target = naming.normalise(uri, scope, rules)[0]
    return dispatched_run(
        state.statement.name,
        identity.dataset_id(target.scope, target.uri),
        state.started_at,
        state.ended_at,
    )


def own_job(namespace: str, name: str, rules: Rules) -> JobName:
    """A job under the name that its client gives."""
    labels = {rules.namespace_label: (namespace,), rules.job_label: (name,)}
    return naming.job_name(labels, None, "", rules)


def _named(run: RunReference | None, rules: Rules) -> JobName | None:
    return own_job(run.namespace, run.name, rules) if run else None


def parent_of(facets: Facets) -> Parent | None:
    return value_of(facets, "parent", Parent) or value_of(facets, "parentRun", Parent)


def is_spark(statement: JobStatement, rules: Rules) -> bool:
    """Whether Spark's agent sent the events: by integration and job type, or by the agent's own
    facets, or by the name that Glue gives to an application of Spark.

    A client of another kind may also report that its job runs on Spark (``SPARK``, ``JOB``). It
    reports no applications and no commands, and its job keeps the name that it gives.
    """
    has_facets = any(name in statement.run_facets for name in rules.spark_facets)
    kind = value_of(statement.job_facets, "jobType", JobType)
    if kind is None or not kind.integration:
        return has_facets or _GLUE_APPLICATION.match(statement.name) is not None
    types = ("", *rules.spark_application_types, *rules.spark_command_types)
    return kind.integration in rules.spark_integrations and (has_facets or kind.type in types)


def _role(statement: JobStatement, parent: RunReference | None, rules: Rules) -> Role:
    kind = value_of(statement.job_facets, "jobType", JobType)
    if kind is not None and kind.type in rules.spark_application_types:
        return "application"
    if kind is not None and kind.type in rules.spark_command_types:
        return "command"
    if parent is not None and _is_below(statement.name, parent.name):
        return "command"
    has_datasets = bool(statement.inputs or statement.outputs or statement.entries)
    return "command" if has_datasets and "." in statement.name else "application"


def _is_below(name: str, parent: str) -> bool:
    return name.startswith(f"{parent}.")


def _application_job(
    statement: JobStatement, role: Role, parent: RunReference | None, scope: str, rules: Rules
) -> JobName:
    """Named as Spline's agent names it; run tags serve as labels."""
    labels = run_tags(statement.run_facets)
    if statement.namespace in rules.spark_own_namespaces:
        labels.setdefault(rules.namespace_label, (statement.namespace,))
    name = _application_name(statement.run_facets)
    if not name and role == "command":
        name = _prefix(statement, parent)
    return naming.job_name(labels, name or statement.name, scope, rules)


def _prefix(statement: JobStatement, parent: RunReference | None) -> str:
    if parent is not None and _is_below(statement.name, parent.name):
        return parent.name
    return statement.name.partition(".")[0]


def run_tags(facets: Facets) -> dict[str, tuple[str, ...]]:
    """Tags as labels: ``{key: (value,)}``; a malformed facet gives none."""
    facet = facets.get("tags")
    listed = facet.body.get("tags") if facet else None
    tags: dict[str, tuple[str, ...]] = {}
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and stripped(item, "key") and stripped(item, "value"):
            tags[item["key"]] = (item["value"],)
    return tags


def _application_name(facets: Facets) -> str:
    name = stripped(facet_body(facets, "spark_properties", "properties"), "spark.app.name")
    name = name or stripped(facet_body(facets, "spark_applicationDetails"), "appName")
    return name or _of_dataproc(facets, "appName")


def _application_id(facets: Facets) -> str:
    application_id = stripped(facet_body(facets, "spark_applicationDetails"), "applicationId")
    application_id = application_id or stripped(
        facet_body(facets, "spark_properties", "properties"), "spark.app.id"
    )
    return application_id or _of_dataproc(facets, "appId")


def _of_dataproc(facets: Facets, key: str) -> str:
    """On Dataproc every event has it, and the compatibility suite's events have no other
    application id.
    """
    values = (stripped(facet_body(facets, name), key) for name in _DATAPROC)
    return next(filter(None, values), "")


def facet_body(facets: Facets, name: str, *members: str) -> Mapping[str, Any]:
    """The fields of a facet, or of a member inside it; empty where it is absent."""
    facet = facets.get(name)
    body: Any = facet.body if facet else {}
    for member in members:
        body = body.get(member) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else {}


def stripped(fields: Mapping[str, Any], key: str) -> str:
    """A text without surrounding white space; "" for any other value."""
    value = fields.get(key)
    return value.strip() if isinstance(value, str) else ""


def _command(statement: JobStatement, parent: RunReference | None, rules: Rules) -> str:
    """``app.execute_insert_into_hive_table.t`` => ``InsertIntoHiveTable``."""
    word = _command_word(statement, parent)
    known = dict(rules.spark_commands).get(word)
    if known is not None and statement.outputs:
        return known
    return "".join(part[:1].upper() + part[1:] for part in word.removeprefix(_EXECUTE).split("_"))


def _command_word(statement: JobStatement, parent: RunReference | None) -> str:
    """``app.collect_limit.t`` => ``collect_limit``."""
    rest = statement.name[len(_prefix(statement, parent)) + 1 :]
    return rest.partition(".")[0]


def is_endless(statement: JobStatement, rules: Rules) -> bool:
    """Whether the job need not end: a stream, a service, or what reports by windows of time."""
    kind = value_of(statement.job_facets, "jobType", JobType)
    return kind is not None and (kind.processing in rules.endless_processing or kind.has_windows)


def may_be_silent(statement: JobStatement, rules: Rules) -> bool:
    """Whether the job need not end and its silence does not tell that it has stopped."""
    kind = value_of(statement.job_facets, "jobType", JobType)
    return kind is not None and is_endless(statement, rules) and not kind.is_heard_daily


def writes_dynamically(command: str, facets: Facets) -> bool:
    """Whether an overwrite by the command replaces only the partitions that it has rows for: the
    command says so, or the session's setting, where the client is told to capture it.
    """
    mode = stripped(facet_body(facets, "spark_properties", "properties"), _OVERWRITE_MODE)
    return command in DYNAMIC_COMMANDS or (
        command in INSERTING_COMMANDS and mode.lower() == "dynamic"
    )


def is_query(statement: JobStatement, place: JobPlace, rules: Rules) -> bool:
    """Whether a command without an output reads data for its user: a count, a collect."""
    word = _command_word(statement, place.parent)
    return bool(statement.inputs) and not word.startswith(rules.spark_inner_reads)


def producer_text(producer: str) -> str:
    """``…/tree/1.53.0/integration/spark`` => ``openlineage-spark 1.53.0``,
    ``…/spline-spark-agent/tree/release/2.4.0`` => ``openlineage-spline 2.4.0``; others as they are.
    """
    match = _PRODUCER.search(producer[:1000])
    if match is not None:
        return f"openlineage-{match['name']} {match['version']}"
    if match := _DISPATCHER.search(producer[:_LONGEST_PRODUCER]):
        return f"{labels.DISPATCHER} {match['version']}"
    return producer.strip()[:_LONGEST_PRODUCER] or "unknown"
