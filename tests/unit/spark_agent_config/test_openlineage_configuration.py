"""The settings of OpenLineage's clients: in every form, and as the clients themselves read it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from openlineage.client import OpenLineageClient
from openlineage.client.transport.http import HttpTransport

from spark_agent_config.configuration import (
    CLIENT_FORMS,
    ClientTarget,
    airflow_variables,
    coordinate,
    notes,
    render_client,
    spark_properties,
)

URL = "https://lineage.example.org"
EVERY_FORM = [(client, form) for client in CLIENT_FORMS for form in CLIENT_FORMS[client]]
OF_SPARK = [item for item in EVERY_FORM if item[0].startswith(("openlineage", "glue", "emr"))]


@pytest.mark.parametrize(("client", "form"), EVERY_FORM)
def test_every_form_names_the_server_and_ends_a_line(client: str, form: str) -> None:
    text = render_client(client, URL, form, namespace="hr")
    assert URL in text
    assert "api/v1/lineage" in text
    assert text.endswith("\n")
    assert "apiKey" not in text.replace("API key", "")


@pytest.mark.parametrize(("client", "form"), EVERY_FORM)
def test_a_key_is_sent_where_one_is_asked_for(client: str, form: str) -> None:
    text = render_client(client, URL, form, api_key="hw_1")
    assert "hw_1" in text
    assert "api_key" in text


@pytest.mark.parametrize("client", CLIENT_FORMS)
def test_every_client_has_its_pitfalls(client: str) -> None:
    assert notes(client)
    first = next(iter(CLIENT_FORMS[client]))
    text = render_client(client, URL, first)
    assert text.startswith(("{", "%%")) or f"# {notes(client)[0]}" in text


@pytest.mark.parametrize(("client", "form"), OF_SPARK)
def test_every_form_of_spark_names_the_listener_and_the_jar(client: str, form: str) -> None:
    text = render_client(client, URL, form)
    assert "io.openlineage.spark.agent.OpenLineageSparkListener" in text
    assert coordinate() in text or "openlineage-spark_2.12-1.53.0.jar" in text


def test_a_path_below_the_host_goes_into_the_endpoint() -> None:
    properties = spark_properties(ClientTarget(f"{URL}/tools/"))
    assert properties["spark.openlineage.transport.url"] == URL
    assert properties["spark.openlineage.transport.endpoint"] == "/tools/api/v1/lineage"


def test_the_namespace_is_a_label_too_so_that_both_agents_mean_one_job() -> None:
    properties = spark_properties(ClientTarget(URL, "hr"))
    assert properties["spark.openlineage.namespace"] == "hr"
    assert properties["spark.openlineage.run.tags"] == "namespace:hr"
    assert "spark.app.id" in properties["spark.openlineage.capturedProperties"]


def test_spark_hides_the_key_on_its_pages() -> None:
    properties = spark_properties(ClientTarget(URL, api_key="hw_1"))
    hidden = re.compile(properties["spark.redaction.regex"])
    assert hidden.search("spark.openlineage.transport.auth.apiKey")


def test_glue_gets_one_conf_without_blanks_inside_its_values() -> None:
    arguments = json.loads(render_client("glue5", URL, namespace="hr", api_key="hw_1"))
    chained = ("--conf " + arguments["--conf"]).split(" --conf ")
    assert all(" " not in part.removeprefix("--conf ") for part in chained)
    command = render_client("glue4", URL, "start-job-run", namespace="hr")
    words = shlex.split("".join(li for li in command.splitlines(True) if not li.startswith("#")))
    assert json.loads(words[-1]).keys() == arguments.keys()


def test_the_notebook_s_cell_is_a_magic_and_json() -> None:
    first, _, rest = render_client("emr-serverless", URL, "notebook").partition("\n")
    assert first == "%%configure -f"
    assert "spark.extraListeners" in json.loads(rest)["conf"]


@pytest.mark.parametrize("base", ["", "/", "/tools"])
def test_dbt_s_file_is_read_by_the_client(base: str) -> None:
    text = render_client("dbt", URL + base, api_key="hw_1")
    transport = OpenLineageClient(config=yaml.safe_load(text)).transport
    assert isinstance(transport, HttpTransport)
    path = f"{base.rstrip('/')}/api/v1/lineage"
    assert (transport.url, f"/{transport.endpoint}") == (URL, path)
    assert transport.config.auth.get_bearer() == "Bearer hw_1"


def test_airflow_s_variables_are_read_by_the_client() -> None:
    variables = airflow_variables(ClientTarget(URL, "hr", "hw_1"))
    config = {"transport": json.loads(variables["AIRFLOW__OPENLINEAGE__TRANSPORT"])}
    transport = OpenLineageClient(config=config).transport
    assert isinstance(transport, HttpTransport)
    assert transport.config.auth.get_bearer() == "Bearer hw_1"


def test_the_variables_survive_a_shell(tmp_path: Path) -> None:
    key = "it's $HOME & `more` %"
    script = render_client("airflow", URL, "environment", api_key=key)
    program = "import os; print(os.environ['AIRFLOW__OPENLINEAGE__TRANSPORT'])"
    script += f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}\n"
    done = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["auth"]["apiKey"] == key


def test_airflow_cfg_writes_a_percent_sign_twice() -> None:
    text = render_client("airflow", URL, "airflow-cfg", api_key="50%")
    assert '"50%%"' in text


def test_mwaa_s_plugin_is_python() -> None:
    compile(render_client("mwaa", URL, "plugin", api_key="a\"b'c"), "plugin.py", "exec")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"client": "hadoop"}, "client"),
        ({"form": "poem"}, "form"),
        ({"url": "ftp://x"}, "url"),
        ({"url": f"{URL}/?a=b"}, "url"),
        ({"scala_version": "2.11"}, "scala_version"),
        ({"namespace": "a;b"}, "namespace"),
    ],
)
def test_a_setting_that_cannot_be_honoured_is_refused_by_name(
    given: dict[str, str], named: str
) -> None:
    arguments = {"client": "openlineage-spark", "url": URL, **given}
    with pytest.raises(ValueError, match=f"^{named} is"):
        render_client(**arguments)
