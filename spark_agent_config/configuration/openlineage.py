"""The settings of OpenLineage's clients, as text to paste. Pure: text in, text out.

    render_client("openlineage-spark", "http://lineage:8080", "spark-submit", namespace="hr")

Each text carries the known pitfalls of its client as comments. Where a form has no comments (JSON),
``notes`` has them: print both.
"""

from __future__ import annotations

import json
import shlex
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from spark_agent_config.configuration.properties import (
    BUCKET,
    REDACTION,
    Form,
    check_accepted,
    glue_arguments,
    jar_name,
    json_text,
    render_python,
    render_spark_submit,
    spark_defaults_lines,
    text_of,
)

#: The release that these settings were tried with.
SPARK_CLIENT_VERSION: Final = "1.53.0"
LISTENER: Final = "io.openlineage.spark.agent.OpenLineageSparkListener"
ENDPOINT: Final = "api/v1/lineage"
SCALA_VERSIONS: Final = ("2.12", "2.13")
_PREFIX: Final = "spark.openlineage"


@dataclass(frozen=True, slots=True)
class ClientTarget:
    """Where a client reports: the server's base URL, with or without a path below the host.

    ``namespace`` of its jobs; "" leaves the client's own default. ``api_key`` None: none is sent.
    """

    url: str
    namespace: str = ""
    api_key: str | None = None

    @property
    def host(self) -> str:
        """``https://example.org/lineage/`` => ``https://example.org``."""
        parts = urllib.parse.urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def endpoint(self) -> str:
        """The path of the API below the host, without a slash before it."""
        base = urllib.parse.urlsplit(self.url).path.strip("/")
        return f"{base}/{ENDPOINT}" if base else ENDPOINT

    @property
    def shown_namespace(self) -> str:
        """The namespace, or a placeholder."""
        return self.namespace or "YOUR-NAMESPACE"


def render_client(
    client: str,
    url: str,
    form: str = "",
    *,
    namespace: str = "",
    api_key: str | None = None,
    scala_version: str = "2.12",
) -> str:
    """The configuration of a client, ending in a newline.

    ``form`` is one of ``CLIENT_FORMS[client]``; empty means the first. Raises ValueError with the
    accepted values.
    """
    check_accepted("client", client, tuple(CLIENT_FORMS))
    forms = CLIENT_FORMS[client]
    chosen = form or next(iter(forms))
    check_accepted("form", chosen, tuple(forms))
    check_accepted("scala_version", scala_version, SCALA_VERSIONS)
    if any(character in namespace for character in ";:\n"):
        raise ValueError(f"namespace is {namespace!r}: accepted are names without ; and :")
    target = ClientTarget(_checked_url(url), namespace, api_key)
    comments = [] if chosen in _WITHOUT_COMMENTS else [f"# {note}\n" for note in notes(client)]
    return "".join(comments) + forms[chosen](target, coordinate(scala_version))


def notes(client: str) -> tuple[str, ...]:
    """Known pitfalls of a client, a sentence each."""
    return _NOTES[client]


def coordinate(scala_version: str = "2.12") -> str:
    """Maven coordinate of Spark's client."""
    return f"io.openlineage:openlineage-spark_{scala_version}:{SPARK_CLIENT_VERSION}"


# --- Spark ---------------------------------------------------------------------------------------


def spark_properties(target: ClientTarget) -> dict[str, str]:
    """Spark properties that switch the client on. The jar is named apart from them.

    The run tag ``namespace`` joins this client's job with that of our listener (or the Spline
    agent) under the label of that name; ``spark.app.id`` makes each event name its application's
    run, even if the others are lost.
    """
    properties = {
        "spark.extraListeners": LISTENER,
        f"{_PREFIX}.transport.type": "http",
        f"{_PREFIX}.transport.url": target.host,
        f"{_PREFIX}.transport.endpoint": f"/{target.endpoint}",
        f"{_PREFIX}.transport.timeoutInMillis": "5000",
        f"{_PREFIX}.transport.compression": "gzip",
        f"{_PREFIX}.capturedProperties": "spark.master,spark.app.name,spark.app.id",
        f"{_PREFIX}.columnLineage.datasetLineageEnabled": "true",
    }
    if target.namespace:
        properties[f"{_PREFIX}.namespace"] = target.namespace
        properties[f"{_PREFIX}.run.tags"] = f"namespace:{target.namespace}"
    if target.api_key is not None:
        properties[f"{_PREFIX}.transport.auth.type"] = "api_key"
        properties[f"{_PREFIX}.transport.auth.apiKey"] = target.api_key
        properties["spark.redaction.regex"] = REDACTION
    return properties


def _of_spark(render: Form) -> ClientForm:
    """A form of the agent's configuration, with the properties of this client."""
    return lambda target, jar: render(spark_properties(target), jar)


def _defaults_lines(properties: Mapping[str, str], jar: str) -> str:
    """Lines of ``spark-defaults.conf``."""
    return text_of(spark_defaults_lines(properties, jar))


def _glue_arguments(target: ClientTarget, jar: str) -> dict[str, str]:
    """Job parameters of AWS Glue. Glue takes one ``--conf``: the others are inside it."""
    properties = {
        **spark_properties(target),
        "spark.glue.accountId": "YOUR-ACCOUNT-ID",
    }
    return glue_arguments(properties, jar_name(jar))


def _render_glue(target: ClientTarget, jar: str) -> str:
    """Job parameters as JSON."""
    return json_text(_glue_arguments(target, jar))


def _render_glue_command(target: ClientTarget, jar: str) -> str:
    """The same as a command of the AWS CLI."""
    arguments = shlex.quote(json.dumps(_glue_arguments(target, jar)))
    return text_of(
        ["aws glue start-job-run \\", "  --job-name YOUR-JOB \\", f"  --arguments {arguments}"]
    )


def _render_emr_serverless(target: ClientTarget, jar: str) -> str:
    """``sparkSubmitParameters`` of a job run, in the JSON of ``--job-driver``."""
    properties = {"spark.jars": f"{BUCKET}/{jar_name(jar)}", **spark_properties(target)}
    parameters = " ".join(f"--conf {name}={value}" for name, value in properties.items())
    driver = {
        "sparkSubmit": {
            "entryPoint": "s3://YOUR-BUCKET/your_job.py",
            "sparkSubmitParameters": parameters,
        }
    }
    return json_text(driver)


def _render_notebook(target: ClientTarget, jar: str) -> str:
    """The first cell of a notebook on EMR Serverless or EMR Studio."""
    properties = {"spark.jars": f"{BUCKET}/{jar_name(jar)}", **spark_properties(target)}
    return "%%configure -f\n" + json_text({"conf": properties})


# --- Python: dbt and Airflow ---------------------------------------------------------------------


def transport(target: ClientTarget) -> dict[str, object]:
    """The transport of OpenLineage's Python client: dbt and Airflow share it.

    Its URL is joined with the endpoint as a browser does it: a path needs its slash at the end.
    """
    found: dict[str, object] = {
        "type": "http",
        "url": target.host,
        "endpoint": target.endpoint,
        "timeout": 5,
        "compression": "gzip",
    }
    if target.api_key is not None:
        found["auth"] = {"type": "api_key", "apiKey": target.api_key}
    return found


def _render_dbt_file(target: ClientTarget, _jar: str) -> str:
    """``openlineage.yml``: JSON strings are YAML strings too."""
    lines = ["transport:"]
    for name, value in transport(target).items():
        if isinstance(value, dict):
            lines += [f"  {name}:"]
            lines += [f"    {key}: {json.dumps(inner)}" for key, inner in value.items()]
        else:
            lines += [f"  {name}: {json.dumps(value)}"]
    usage = f"# OPENLINEAGE_NAMESPACE={shlex.quote(target.shown_namespace)} dbt-ol run"
    return text_of([usage, *lines])


def _render_dbt_environment(target: ClientTarget, _jar: str) -> str:
    """The same as variables of a shell, for a container or a CI job."""
    variables = {"OPENLINEAGE_NAMESPACE": target.shown_namespace}
    for name, value in transport(target).items():
        key = f"OPENLINEAGE__TRANSPORT__{name.upper()}"
        variables[key] = json.dumps(value) if isinstance(value, dict) else str(value)
    return text_of([*_exports(variables), "dbt-ol run"])


def _render_airflow_cfg(target: ClientTarget, _jar: str) -> str:
    """The section of ``airflow.cfg``; a percent sign is written twice there."""
    value = json.dumps(transport(target)).replace("%", "%%")
    namespace = target.shown_namespace.replace("%", "%%")
    return text_of(["[openlineage]", f"transport = {value}", f"namespace = {namespace}"])


def airflow_variables(target: ClientTarget) -> dict[str, str]:
    """The settings of ``airflow.cfg`` as environment variables."""
    return {
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport(target)),
        "AIRFLOW__OPENLINEAGE__NAMESPACE": target.shown_namespace,
    }


def _render_airflow_environment(target: ClientTarget, _jar: str) -> str:
    return text_of(_exports(airflow_variables(target)))


def _render_mwaa_options(target: ClientTarget, _jar: str) -> str:
    """MWAA's "Airflow configuration options", as JSON for the AWS CLI."""
    return json_text(
        {
            "openlineage.transport": json.dumps(transport(target)),
            "openlineage.namespace": target.shown_namespace,
        }
    )


def _render_mwaa_plugin(target: ClientTarget, _jar: str) -> str:
    """A plugin that sets the variables, for environments that refuse the options."""
    values = [
        f"os.environ[{json.dumps(name)}] = {json.dumps(value)}"
        for name, value in airflow_variables(target).items()
    ]
    return text_of(
        [
            "# plugins.zip: openlineage_environment.py",
            "import os",
            "",
            "from airflow.plugins_manager import AirflowPlugin",
            "",
            *values,
            "",
            "",
            "class OpenLineageEnvironment(AirflowPlugin):",
            '    name = "openlineage_environment"',
        ]
    )


# --- which there are -----------------------------------------------------------------------------

ClientForm = Callable[[ClientTarget, str], str]
#: Accepted forms per client; the first is the default.
CLIENT_FORMS: Final[Mapping[str, Mapping[str, ClientForm]]] = {
    "openlineage-spark": {
        "spark-defaults": _of_spark(_defaults_lines),
        "spark-submit": _of_spark(render_spark_submit),
        "python": _of_spark(render_python),
    },
    "dbt": {"openlineage-yml": _render_dbt_file, "environment": _render_dbt_environment},
    "airflow": {
        "environment": _render_airflow_environment,
        "airflow-cfg": _render_airflow_cfg,
    },
    "mwaa": {"options": _render_mwaa_options, "plugin": _render_mwaa_plugin},
    "glue4": {"job-arguments": _render_glue, "start-job-run": _render_glue_command},
    "glue5": {"job-arguments": _render_glue, "start-job-run": _render_glue_command},
    "emr-serverless": {"job-driver": _render_emr_serverless, "notebook": _render_notebook},
}
#: JSON has no place for comments, and the first line of a notebook's cell is its magic.
_WITHOUT_COMMENTS: Final = frozenset({"options", "job-arguments", "job-driver", "notebook"})

_SPARK_NOTES: Final = (
    "Settings are read when the session starts: a notebook that has one must be restarted.",
    "transport.url is the host alone: the client drops a path, which belongs into the endpoint.",
    "A server that is down costs the events of that time, never the job; nothing is sent later.",
    "The client reports the default file of Derby for any Derby database: use another database.",
)
_GLUE_NOTES: Final = (
    f"Put the jar into a bucket of yours; it is {coordinate()} of Maven Central.",
    "Glue takes one --conf: put further settings into its value; no value may contain a blank.",
    "DynamicFrames are not seen: convert them with toDF() before they are written.",
    "The job needs a connection in a VPC from which it reaches this server.",
    "spark.glue.accountId lets the client name tables by their ARN in the Glue catalog.",
    "Everybody who may read the job's parameters can read the API key: give it the role producer.",
)
_NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "openlineage-spark": _SPARK_NOTES,
    "dbt": (
        "Install openlineage-dbt beside dbt and call dbt-ol in the place of dbt.",
        "The file is looked for here, in ~/.openlineage, or where OPENLINEAGE_CONFIG says.",
        "The namespace is not in the file: it comes from OPENLINEAGE_NAMESPACE alone.",
        "Column lineage comes from the SQL of artifact mode; --consume-structured-logs has none.",
        "A relative path of DuckDB or SQLite names another file in every folder.",
        "dbt-ol returns dbt's own code; when the server is away it warns, and sends nothing later.",
    ),
    "airflow": (
        "pip install apache-airflow-providers-openlineage (Airflow 2.7 on; 2.20 needs 2.11).",
        "Scheduler, workers and triggerer each need it: the scheduler reports the DAG's runs.",
        "config_conn_id and config_path of [openlineage] win over transport: leave them empty.",
        "Operators without an extractor report only their inlets and outlets.",
        "spark_inject_parent_job_info = True makes the tree: DAG, task, Spark application.",
    ),
    "mwaa": (
        "requirements.txt: apache-airflow-providers-openlineage, with Airflow's constraints file.",
        "Set core.lazy_load_plugins to False, else the plugin's variables come too late.",
        "The environment's VPC needs a way to this server; MWAA's own workers send the events.",
        "Before Airflow 2.7 there is only the old openlineage-airflow, which is no longer made.",
    ),
    "glue4": (*_GLUE_NOTES, "Glue 4 is Spark 3.3 on Scala 2.12 and Java 8."),
    "glue5": (
        *_GLUE_NOTES,
        "Glue 5 is Spark 3.5 on Scala 2.12 and Java 17; switch its own lineage to DataZone off, "
        "else there are two clients of two versions.",
    ),
    "emr-serverless": (
        f"Put the jar into a bucket of yours; it is {coordinate()} of Maven Central.",
        "An application without a VPC reaches nothing outside AWS: neither this server nor Maven.",
        "The notebook's cell must be the first that runs; -f restarts a session that has begun.",
        "sparkSubmitParameters is split at blanks: no value may hold one.",
        "Everybody who may read the job run can read the API key: give it the role producer.",
    ),
}


# --- parts ---------------------------------------------------------------------------------------


def _exports(variables: Mapping[str, str]) -> list[str]:
    return [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def _checked_url(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or any(map(str.isspace, url)):
        raise ValueError(f"url is {url!r}: accepted are http://host:port and https://host")
    if parts.query or parts.fragment:
        raise ValueError(f"url is {url!r}: accepted are addresses without ? and #")
    return url
