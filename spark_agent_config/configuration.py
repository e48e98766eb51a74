"""Settings of agents and clients that report here, as text to paste. Pure: text in, text out.

Those of the stock Spline agent, per way of running Spark:

    render_configuration("spark", "http://lineage:8080/producer", "3.5", "2.12", "spark-submit")

gives lines to paste. The jobs of this package use our own listener instead (``listener``), which
needs no jar; the agent is for Scala and Java jobs, and for clusters that know it already.

Three things that the agent's own examples miss, and that every configuration here carries:

- On Java 17 the agent ends the session unless one package of the JDK is opened to it.
- Its handshake is made once: a server that is down at that moment means no lineage for the whole
  session. With API version and compression pinned there is no handshake.
- ``spark.spline.mode`` is never ``REQUIRED``: agents from 1.0 on refuse it, and the job with it.

And those of OpenLineage's clients:

    render_client("openlineage-spark", "http://lineage:8080", "spark-submit", namespace="hr")

Each text carries the known pitfalls of its client as comments. Where a form has no comments (JSON),
``notes`` has them: print both.
"""

from __future__ import annotations

import json
import re
import shlex
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

LISTENER_CLASS: Final = "za.co.absa.spline.harvester.listener.SplineQueryExecutionListener"
AGENT_GROUP: Final = "za.co.absa.spline.agent.spark"
#: The release that these settings were tried with.
AGENT_VERSION: Final = "2.2.0"
#: Header that carries an API key, for the agent and for the listener alike.
API_KEY_HEADER: Final = "X-API-Key"
#: Spark shows settings on its pages and in event logs, except those whose names match this. Its
#: own pattern is the first part; it does not hide a name that ends in API-Key.
REDACTION: Final = "(?i)secret|password|token|access[.]?key|api-?key"

#: The options of Java 17 that the agent needs.
ADD_OPENS: Final = "--add-opens=java.base/sun.net.www.protocol.jar=ALL-UNNAMED"
#: Java 8 knows no ``--add-opens`` and would not start; this makes it overlook the option.
_OVERLOOK: Final = "-XX:+IgnoreUnrecognizedVMOptions"

#: Spark versions with a bundle, and the Scala versions that each was built for.
BUNDLES: Final[Mapping[str, tuple[str, ...]]] = {
    "2.2": ("2.11",),
    "2.3": ("2.11",),
    "2.4": ("2.11", "2.12"),
    "3.0": ("2.12",),
    "3.1": ("2.12",),
    "3.2": ("2.12",),
    "3.3": ("2.12",),
    "3.4": ("2.12",),
    "3.5": ("2.12",),
}

_FILTER: Final = "spark.spline.postProcessingFilter"
"""One that is set takes the place of ``default``, which masks passwords, unless it names it."""
_DISPATCHER: Final = "spark.spline.lineageDispatcher"
#: Stands for a bucket of the reader's own.
BUCKET: Final = "s3://YOUR-BUCKET/jars"


def spline_properties(
    producer_url: str,
    *,
    platform: str = "spark",
    spark_version: str = "3.5",
    api_key: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Spark properties that switch the agent on and point it at ``producer_url``.

    ``labels`` end up on every plan: ``job``, ``namespace`` and ``captureScope`` have a meaning to
    the server, others are kept. Raises ValueError with the accepted values.
    """
    check_accepted("platform", platform, FORMS)
    properties = {
        "spark.sql.queryExecutionListeners": LISTENER_CLASS,
        _DISPATCHER: "http",
        f"{_DISPATCHER}.http.producer.url": _checked_url("producer_url", producer_url).rstrip("/"),
        f"{_DISPATCHER}.http.apiVersion": "1.2",
        f"{_DISPATCHER}.http.requestCompression": "true",
        f"{_DISPATCHER}.http.timeout.connection": "2000",
        f"{_DISPATCHER}.http.timeout.read": "20000",
        "spark.spline.mode": "ENABLED",
    }
    if java_options := _java_options(platform, _short_version(spark_version)):
        properties["spark.driver.extraJavaOptions"] = java_options
    if api_key is not None:
        properties[f"{_DISPATCHER}.http.header.{API_KEY_HEADER}"] = api_key
        properties["spark.redaction.regex"] = REDACTION
    if labels:
        properties[_FILTER] = "composite"
        properties[f"{_FILTER}.composite.filters"] = "userExtraMeta,default"
        properties[f"{_FILTER}.userExtraMeta.rules"] = _label_rules(labels)
    return properties


def bundle(spark_version: str, scala_version: str) -> str:
    """Maven coordinate of the agent: ``bundle("3.5.1", "2.12")``. Raises ValueError."""
    short = _short_version(spark_version)
    if scala_version not in BUNDLES[short]:
        raise ValueError(
            f"scala_version is {scala_version!r}: for Spark {short} accepted are "
            f"{', '.join(BUNDLES[short])}"
        )
    return f"{AGENT_GROUP}:spark-{short}-spline-agent-bundle_{scala_version}:{AGENT_VERSION}"


def render_configuration(
    platform: str,
    producer_url: str,
    spark_version: str = "3.5",
    scala_version: str = "2.12",
    form: str = "",
    *,
    api_key: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> str:
    """The configuration as text to paste, ending in a newline.

    ``form`` is one of ``FORMS[platform]``; empty means the first of them. Raises ValueError with
    the accepted values.
    """
    check_accepted("platform", platform, FORMS)
    forms = FORMS[platform]
    check_accepted("form", form or next(iter(forms)), forms)
    coordinate = bundle(spark_version, scala_version)
    properties = spline_properties(
        producer_url,
        platform=platform,
        spark_version=spark_version,
        api_key=api_key,
        labels=labels,
    )
    return forms[form or next(iter(forms))](properties, coordinate)


# --- forms: (properties, coordinate of the bundle) => text ---------------------------------------

Form = Callable[[Mapping[str, str], str], str]


def render_spark_defaults(properties: Mapping[str, str], coordinate: str) -> str:
    """Lines of ``spark-defaults.conf``. A backslash is written twice: Java reads the file."""
    lines = spark_defaults_lines(properties, coordinate)
    return text_of(["# Lineage: the Spline agent reports to Headwater.", *lines])


def spark_defaults_lines(properties: Mapping[str, str], coordinate: str) -> list[str]:
    """The jar and the properties; a backslash is written twice."""
    backslash = "\\"
    return [
        f"spark.jars.packages  {coordinate}",
        *(
            f"{name}  {value.replace(backslash, backslash * 2)}"
            for name, value in properties.items()
        ),
    ]


def render_spark_submit(properties: Mapping[str, str], coordinate: str) -> str:
    """Arguments of ``spark-submit``, ``spark-shell``, ``spark-sql`` or ``pyspark``."""
    arguments = [f"--packages {coordinate}"]
    arguments += [f"--conf {shlex.quote(f'{name}={value}')}" for name, value in properties.items()]
    lines = [f"  {argument} \\" for argument in arguments]
    return text_of(["spark-submit \\", *lines, "  your_job.py"])


def render_python(properties: Mapping[str, str], coordinate: str) -> str:
    """A SparkSession builder, for a job that starts its own JVM (``python your_job.py``)."""
    settings = {"spark.jars.packages": coordinate, **properties}
    return text_of(
        [
            "spark = (",
            "    SparkSession.builder",
            *(f"    .config({json.dumps(n)}, {json.dumps(v)})" for n, v in settings.items()),
            "    .getOrCreate()",
            ")",
        ]
    )


def render_glue(properties: Mapping[str, str], coordinate: str) -> str:
    """Job parameters of AWS Glue, as JSON.

    Glue takes one ``--conf``, so the others are chained inside its value. It resolves no Maven
    coordinates: put the jar and SnakeYAML, which Glue lacks, into a bucket of yours. Raises
    ValueError for a value with a blank, at which Glue would cut the argument.
    """
    if cut := [name for name, value in properties.items() if " " in value]:
        raise ValueError(
            f"{cut[0]} is {properties[cut[0]]!r}: Glue cuts its --conf at blanks, so a label or "
            "namespace must be written without them"
        )
    return json_text(glue_arguments(properties, jar_name(coordinate), "snakeyaml-1.33.jar"))


def glue_arguments(properties: Mapping[str, str], *jars: str) -> dict[str, str]:
    """The job parameters for jars in a bucket of yours."""
    return {
        "--conf": " --conf ".join(f"{name}={value}" for name, value in properties.items()),
        "--extra-jars": ",".join(f"{BUCKET}/{jar}" for jar in jars),
        "--user-jars-first": "true",
    }


def render_emr(properties: Mapping[str, str], coordinate: str) -> str:
    """A ``spark-defaults`` classification of Amazon EMR, as JSON."""
    values = {"spark.jars.packages": coordinate, **properties}
    classification = {"Classification": "spark-defaults", "Properties": values}
    return json_text([classification])


def render_databricks_cluster(properties: Mapping[str, str], coordinate: str) -> str:
    """Lines for a cluster's Spark configuration; the bundle is installed as a Maven library."""
    lines = [f"{name} {value}" for name, value in properties.items()]
    return text_of(
        [
            "# Advanced options > Spark > Spark config. The listener's class is needed before",
            f"# libraries are installed: copy {jar_name(coordinate)}",
            "# into /databricks/jars with the init script (form init-script).",
            *lines,
        ]
    )


def render_databricks_init_script(properties: Mapping[str, str], coordinate: str) -> str:
    """An init script: puts the bundle in place and writes the driver's configuration."""
    values = [f"  {json.dumps(name)} = {json.dumps(value)}" for name, value in properties.items()]
    return text_of(
        [
            "#!/bin/bash",
            "set -euo pipefail",
            f"# {coordinate}: put the jar into a volume of yours first.",
            f"cp /Volumes/YOUR/CATALOG/jars/{jar_name(coordinate)} /databricks/jars/",
            "cat > /databricks/driver/conf/00-headwater-lineage.conf <<'CONFIGURATION'",
            "[driver] {",
            *values,
            "}",
            "CONFIGURATION",
        ]
    )


#: Accepted forms per platform; the first is the default.
FORMS: Final[Mapping[str, Mapping[str, Form]]] = {
    "spark": {
        "spark-defaults": render_spark_defaults,
        "spark-submit": render_spark_submit,
        "python": render_python,
    },
    "glue": {"job-arguments": render_glue},
    "emr": {"configuration": render_emr, "spark-submit": render_spark_submit},
    "databricks": {
        "init-script": render_databricks_init_script,
        "cluster-config": render_databricks_cluster,
    },
}


# --- checks ----------------------------------------------------------------------------------


def check_accepted(name: str, value: str, accepted: Iterable[str]) -> None:
    """Raises ValueError with the accepted values."""
    if value not in accepted:
        raise ValueError(f"{name} is {value!r}: accepted are {', '.join(accepted)}")


def _short_version(spark_version: str) -> str:
    """``3.5.1`` => ``3.5``. Raises ValueError for a version without a bundle."""
    short = ".".join(spark_version.split(".")[:2])
    if short not in BUNDLES:
        hint = " (on Spark 4 use spark_agent_config.listener)" if short.startswith("4.") else ""
        raise ValueError(
            f"spark_version is {spark_version!r}: accepted are {', '.join(BUNDLES)}{hint}"
        )
    return short


def _java_options(platform: str, short_version: str) -> str | None:
    """Spark runs on Java 17 from 3.3 on.

    Glue splits its ``--conf`` at blanks, so it gets one option, and only where it has Java 17.
    """
    version = tuple(int(part) for part in short_version.split("."))
    if platform == "glue":
        return ADD_OPENS if version >= (3, 5) else None
    return f"{_OVERLOOK} {ADD_OPENS}" if version >= (3, 3) else None


def _checked_url(name: str, url: str) -> str:
    """Raises ValueError, which names the argument, for anything but an address of a server."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or re.search(r"\s", url):
        raise ValueError(f"{name} is {url!r}: accepted are http://host:port and https://host")
    return url


def _label_rules(labels: Mapping[str, str]) -> str:
    """Rules of the agent's ``userExtraMeta`` filter; it splits at commas that are not escaped."""
    rules = {"executionPlan": {"labels": {name: [value] for name, value in labels.items()}}}
    return json.dumps(rules, separators=(",", ":")).replace(",", "\\,")


def jar_name(coordinate: str) -> str:
    """``group:artifact:version`` => ``artifact-version.jar``."""
    _, artifact, version = coordinate.split(":")
    return f"{artifact}-{version}.jar"


def json_text(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def text_of(lines: Iterable[str]) -> str:
    """Lines, each with its end."""
    return "\n".join(lines) + "\n"


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
    target = ClientTarget(_checked_client_url(url), namespace, api_key)
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
    settings: dict[str, object] = {
        "type": "http",
        "url": target.host,
        "endpoint": target.endpoint,
        "timeout": 5,
        "compression": "gzip",
    }
    if target.api_key is not None:
        settings["auth"] = {"type": "api_key", "apiKey": target.api_key}
    return settings


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


def _checked_client_url(url: str) -> str:
    parts = urllib.parse.urlsplit(_checked_url("url", url))
    if parts.query or parts.fragment:
        raise ValueError(f"url is {url!r}: accepted are addresses without ? and #")
    return url
