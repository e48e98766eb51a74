"""``headwater config`` and ``observe``: how a platform, a client or a job reports here."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

import spark_agent_config.bootstrap
from api.console.call import Call, add_command, add_url, read_label
from graph_model.errors import ConfigurationError
from spark_agent_config.configuration import (
    CLIENT_FORMS,
    FORMS,
    notes,
    render_client,
    render_configuration,
)

#: Programs that may run on the server's computer.
_NEAR: Final = ("spark", "openlineage-spark", "dbt", "airflow")
_SPARK_VERSION: Final = "3.5"
#: Python ignores these at its start, and a program that takes its place would go on doing so:
#: ``yes | head -1`` in a job's script ended with an error.
_IGNORED_BY_PYTHON: Final = tuple(
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)
)


def configuration(call: Call) -> int:
    """Print the settings for a platform or a client that reports here."""
    options = call.options
    if options.platform not in _NEAR and not options.url:
        raise ConfigurationError(
            f"a job on {options.platform} cannot reach this computer's 127.0.0.1: name the address "
            "under which it reaches Headwater with --url"
        )
    try:
        text = _client(call) if options.platform in CLIENT_FORMS else _agent(call)
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    call.out.write(text)
    return 0


def _agent(call: Call) -> str:
    """For the Spline agent: a namespace is one of its labels."""
    options = call.options
    labels = dict(options.label)
    if options.namespace:
        labels["namespace"] = options.namespace
    return render_configuration(
        options.platform,
        f"{call.url()}/producer",
        options.spark_version or _SPARK_VERSION,
        options.scala_version,
        options.form,
        api_key=_key(call),
        labels=labels,
    )


def _client(call: Call) -> str:
    """For a client of OpenLineage. Comments that JSON has no place for go beside it."""
    options = call.options
    for name in ("label", "spark_version"):
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')} is for the Spline agent")
    text = render_client(
        options.platform,
        call.url(),
        options.form,
        namespace=options.namespace,
        api_key=_key(call),
        scala_version=options.scala_version,
    )
    if not text.startswith("#"):
        sys.stderr.writelines(f"# {note}\n" for note in notes(options.platform))
    return text


def _key(call: Call) -> str | None:
    return (call.api_key() or "YOUR-API-KEY") if call.options.api_key else None


def observe(call: Call) -> int:
    """Become a command whose Spark applications report here: signals and its status are its own."""
    command = call.options.program
    if command[:1] == ["--"]:
        command = command[1:]
    if not command:
        raise ConfigurationError(
            "name the command to run: headwater observe -- spark-submit job.py"
        )
    named = {"HEADWATER_JOB": call.options.job, "HEADWATER_NAMESPACE": call.options.namespace}
    bootstrap = Path(spark_agent_config.bootstrap.__file__).parent
    former = call.environment.get("PYTHONPATH")
    environment = {
        **call.environment,
        **{name: value for name, value in named.items() if value},
        "HEADWATER_URL": call.url(),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(bootstrap), former))),
    }
    call.out.flush()
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in _IGNORED_BY_PYTHON}
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - theirs
    except OSError as error:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        raise ConfigurationError(f"{command[0]} does not start: {error.strerror}") from error


def add_observe(commands: Any) -> None:
    added = add_command(
        commands,
        "observe",
        observe,
        "run a PySpark command and report what its applications read and write",
        """\
For jobs that are not changed: Python starts with the listener of spark_agent_config/README.md, and
all sessions of each Spark application are reported. For spark-submit in client mode, python, and
programs in Python that start Spark (spark-pipelines run --remote local).

  headwater observe -- spark-submit job.py
  headwater observe --url https://lineage.example.org --job nightly -- python job.py""",
    )
    add_url(added)
    added.add_argument("--job", default="", help="the name of the job (default: the application's)")
    added.add_argument("--namespace", default="", help="the namespace of the job")
    added.add_argument("program", nargs=argparse.REMAINDER, metavar="-- COMMAND")


def add_config(commands: Any) -> None:
    added = add_command(
        commands,
        "config",
        configuration,
        "print the settings with which a platform or a client reports to this server",
        """\
spark, glue, emr and databricks are for the stock Spline agent (Scala, Java and Python jobs); the
others are clients of OpenLineage. PySpark jobs can do with one line and no jar instead:
spark_agent_config/README.md.

  headwater config spark
  headwater config spark --spark-version 3.4 --form spark-defaults --label job=nightly
  headwater config openlineage-spark --namespace hr
  headwater config glue5 --url https://lineage.example.org --api-key""",
    )
    added.add_argument(
        "platform",
        choices=(*FORMS, *CLIENT_FORMS),
        help="the platform on which the jobs run, or the client that reports",
    )
    add_url(added)
    added.add_argument("--namespace", default="", help="the namespace of the jobs")
    added.add_argument("--spark-version", default="", help=f"(default: {_SPARK_VERSION})")
    added.add_argument("--scala-version", default="2.12", help="(default: 2.12)")
    listed = {**FORMS, **CLIENT_FORMS}
    forms = "; ".join(f"{platform}: {', '.join(names)}" for platform, names in listed.items())
    added.add_argument(
        "--form", default="", help=f"the text to print ({forms}; default: the first)"
    )
    added.add_argument(
        "--label",
        action="append",
        default=[],
        type=read_label,
        metavar="NAME=VALUE",
        help="put on every plan; job, namespace and captureScope have a meaning here",
    )
    added.add_argument(
        "--api-key",
        action="store_true",
        help="send an API key: $HEADWATER_API_KEY, else a place to put one",
    )
