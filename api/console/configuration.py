"""``headwater config``: what a platform needs to report here."""

from __future__ import annotations

from typing import Any

from api.console.call import Call, add_command, add_url, read_label
from graph_model.errors import ConfigurationError
from spark_agent_config.properties import FORMS, PLATFORMS, render_configuration


def configuration(call: Call) -> int:
    """Print what a platform needs to report here."""
    options = call.options
    if options.platform != "spark" and not options.url:
        raise ConfigurationError(
            f"a job on {options.platform} cannot reach this computer's 127.0.0.1: name the address "
            "under which it reaches Headwater with --url"
        )
    try:
        text = render_configuration(
            options.platform,
            f"{call.url()}/producer",
            options.spark_version,
            options.scala_version,
            options.form,
            api_key=(call.api_key() or "YOUR-API-KEY") if options.api_key else None,
            labels=dict(options.label),
        )
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    call.out.write(text)
    return 0


def add_config(commands: Any) -> None:
    added = add_command(
        commands,
        "config",
        configuration,
        "print what a Spark platform needs so that its jobs report here",
        """\
For the stock Spline agent (Scala, Java and Python jobs). PySpark jobs can do with one line and no
jar instead: spark_agent_config/README.md.

  headwater config spark
  headwater config spark --spark-version 3.4 --form spark-defaults --label job=nightly
  headwater config glue --url https://lineage.example.org""",
    )
    added.add_argument("platform", choices=PLATFORMS, help="where the jobs run")
    add_url(added)
    added.add_argument("--spark-version", default="3.5", help="(default: 3.5)")
    added.add_argument("--scala-version", default="2.12", help="(default: 2.12)")
    forms = "; ".join(f"{platform}: {', '.join(FORMS[platform])}" for platform in PLATFORMS)
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
