"""The stock Spline agent's settings, per way of running Spark. Pure: text in, text out.

    render_configuration("spark", "http://lineage:8080/producer", "3.5", "2.12", "spark-submit")

gives lines to paste. The jobs of this package use our own listener instead (``listener``), which
needs no jar; the agent is for Scala and Java jobs, and for clusters that know it already.

Three things that the agent's own examples miss, and that every configuration here carries:

- On Java 17 the agent ends the session unless one package of the JDK is opened to it.
- Its handshake is made once: a server that is down at that moment means no lineage for the whole
  session. With API version and compression pinned there is no handshake.
- ``spark.spline.mode`` is never ``REQUIRED``: agents from 1.0 on refuse it, and the job with it.
"""

from __future__ import annotations

import json
import re
import shlex
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
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
        f"{_DISPATCHER}.http.producer.url": _checked_url(producer_url),
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


def _checked_url(url: str) -> str:
    """The base of the producer API, without a slash at its end (the agent adds one)."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or re.search(r"\s", url):
        raise ValueError(f"producer_url is {url!r}: accepted are http://host:port and https://host")
    return url.rstrip("/")


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
