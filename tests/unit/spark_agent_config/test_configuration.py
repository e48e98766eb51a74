"""The stock agent's settings: their required content, in every form they are printed in."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from spark_agent_config.configuration import (
    ADD_OPENS,
    API_KEY_HEADER,
    BUNDLES,
    FORMS,
    bundle,
    render_configuration,
    spline_properties,
)

URL = "http://lineage.example.org:8080/producer"
PACKAGE = Path(__file__).parents[3] / "spark_agent_config"
EVERY_FORM = [(platform, form) for platform in FORMS for form in FORMS[platform]]


def test_the_listener_and_the_server_are_set() -> None:
    properties = spline_properties(f"{URL}/")

    assert properties["spark.sql.queryExecutionListeners"] == (
        "za.co.absa.spline.harvester.listener.SplineQueryExecutionListener"
    )
    assert properties["spark.spline.lineageDispatcher"] == "http"
    assert properties["spark.spline.lineageDispatcher.http.producer.url"] == URL


def test_there_is_no_handshake_that_could_switch_lineage_off() -> None:
    properties = spline_properties(URL)

    assert properties["spark.spline.lineageDispatcher.http.apiVersion"] == "1.2"
    assert properties["spark.spline.lineageDispatcher.http.requestCompression"] == "true"


@pytest.mark.parametrize(("platform", "form"), EVERY_FORM)
def test_every_form_carries_the_listener_the_server_and_the_jar(platform: str, form: str) -> None:
    text = render_configuration(platform, URL, "3.5.1", "2.12", form)

    assert "SplineQueryExecutionListener" in text
    assert URL in text
    assert "spark-3.5-spline-agent-bundle_2.12" in text
    assert ADD_OPENS in text
    assert "REQUIRED" not in text
    assert text.endswith("\n")


def test_an_api_key_is_a_header() -> None:
    properties = spline_properties(URL, api_key="k1")

    assert properties[f"spark.spline.lineageDispatcher.http.header.{API_KEY_HEADER}"] == "k1"
    assert not any("header" in name for name in spline_properties(URL))


def test_spark_hides_an_api_key_on_its_pages() -> None:
    properties = spline_properties(URL, api_key="k1")
    hidden = re.compile(properties["spark.redaction.regex"])
    for name in (
        f"spark.spline.lineageDispatcher.http.header.{API_KEY_HEADER}",
        "spark.headwater.apiKey",
        "spark.hadoop.fs.s3a.secret.key",
    ):
        assert hidden.search(name)
    assert "spark.redaction.regex" not in spline_properties(URL)


def test_labels_are_rules_with_escaped_commas() -> None:
    properties = spline_properties(URL, labels={"job": "curate", "namespace": "hr"})
    rules = properties["spark.spline.postProcessingFilter.userExtraMeta.rules"]

    # "default" masks passwords, and a filter that is set replaces it
    assert properties["spark.spline.postProcessingFilter"] == "composite"
    filters = properties["spark.spline.postProcessingFilter.composite.filters"]
    assert filters == "userExtraMeta,default"
    assert re.search(r"(?<!\\),", rules) is None
    assert json.loads(rules.replace("\\,", ",")) == {
        "executionPlan": {"labels": {"job": ["curate"], "namespace": ["hr"]}}
    }


def test_a_file_of_defaults_doubles_the_backslash_that_java_takes_away() -> None:
    labels = {"job": "a", "namespace": "b"}
    text = render_configuration("spark", URL, form="spark-defaults", labels=labels)

    assert '["a"]\\\\,"' in text


def test_arguments_of_spark_submit_survive_a_shell() -> None:
    text = render_configuration("spark", URL, form="spark-submit", labels={"a": "b", "c": "d"})
    words = shlex.split(text.replace("\\\n", " "))
    given = dict(w.split("=", 1) for flag, w in itertools.pairwise(words) if flag == "--conf")

    assert given == spline_properties(URL, labels={"a": "b", "c": "d"})
    assert words[words.index("--packages") + 1] == bundle("3.5", "2.12")


def test_glue_gets_one_argument_in_which_no_value_has_a_blank() -> None:
    labels = {"job": "curate", "namespace": "hr"}
    arguments = json.loads(render_configuration("glue", URL, labels=labels))
    parts = arguments["--conf"].split(" --conf ")

    expected = spline_properties(URL, platform="glue", labels=labels)
    assert dict(part.split("=", 1) for part in parts) == expected
    assert not any(" " in part for part in parts)
    assert "snakeyaml" in arguments["--extra-jars"]


def test_a_label_with_a_blank_is_refused_for_glue() -> None:
    with pytest.raises(ValueError, match="Glue cuts its --conf at blanks"):
        render_configuration("glue", URL, labels={"team": "people data"})


@pytest.mark.parametrize(
    ("platform", "version", "opened"),
    [
        ("spark", "3.2", False),
        ("spark", "3.3", True),
        ("glue", "3.3", False),
        ("glue", "3.5", True),
    ],
)
def test_the_option_of_java_17_is_left_out_where_there_is_no_java_17(
    platform: str, version: str, opened: bool
) -> None:
    properties = spline_properties(URL, platform=platform, spark_version=version)

    assert (ADD_OPENS in properties.get("spark.driver.extraJavaOptions", "")) is opened


def test_emr_is_configured_by_a_classification() -> None:
    (item,) = json.loads(render_configuration("emr", URL))

    assert item["Classification"] == "spark-defaults"
    assert item["Properties"]["spark.jars.packages"] == bundle("3.5", "2.12")


def test_every_spark_version_with_a_bundle_has_a_coordinate() -> None:
    for spark_version, scala_versions in BUNDLES.items():
        for scala_version in scala_versions:
            assert bundle(f"{spark_version}.1", scala_version).count(":") == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"platform": "hadoop"}, "platform is 'hadoop': accepted are spark, glue, emr, databricks"),
        ({"form": "yaml"}, "form is 'yaml': accepted are spark-defaults, spark-submit, python"),
        ({"spark_version": "1.6"}, "spark_version is '1.6': accepted are 2.2, .*3.5"),
        ({"spark_version": "4.0"}, "on Spark 4 use spark_agent_config.listener"),
        ({"scala_version": "2.13"}, "scala_version is '2.13': for Spark 3.5 accepted are 2.12"),
        ({"producer_url": "lineage:8080"}, "producer_url is 'lineage:8080': accepted are http://"),
        ({"producer_url": "http://a b"}, "producer_url is"),
    ],
)
def test_an_unaccepted_value_is_refused_with_the_accepted_ones(
    given: dict[str, str], message: str
) -> None:
    usual = {"platform": "spark", "producer_url": URL}
    with pytest.raises(ValueError, match=message):
        render_configuration(**(usual | given))  # type: ignore[arg-type]


def test_the_first_form_of_a_platform_is_the_default() -> None:
    for platform in FORMS:
        first = next(iter(FORMS[platform]))
        assert render_configuration(platform, URL) == render_configuration(
            platform, URL, form=first
        )


def test_the_example_file_equals_the_printed_settings() -> None:
    example = (PACKAGE / "spark-defaults.conf").read_text("utf-8")

    assert example == render_configuration("spark", "http://127.0.0.1:8080/producer")


def test_the_package_needs_neither_spark_nor_the_rest_of_headwater() -> None:
    """It must be usable by copying the folder to a cluster."""
    script = (
        "import sys; import spark_agent_config.listener, spark_agent_config.demo; "
        "bad = {'pyspark', 'py4j', 'api', 'graph_model', 'flask', 'marshmallow', 'sqlalchemy'}; "
        "print(sorted(bad & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
