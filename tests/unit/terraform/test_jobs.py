"""The example's Glue jobs: their configuration, and their script, which reports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest

from spark_agent_config.configuration import spline_properties
from tests.unit.terraform.scripts import load_script

ROOT = Path(__file__).resolve().parents[3]
LAKE = ROOT / "terraform/modules/lake"
SCRIPT = "modules/lake/start_job.py"
LABELS = "spark.spline.postProcessingFilter.userExtraMeta.rules"


def test_the_stock_agent_is_configured_as_the_project_prints_it() -> None:
    pytest.importorskip("hcl2", reason="python-hcl2 is not installed: make test installs it")
    import hcl2

    from tests.unit.terraform.configuration import plain, within

    parsed = hcl2.loads((LAKE / "main.tf").read_text("utf-8"))
    given = {
        key.strip('"'): plain(value)
        for key, value in within(parsed, "spline_properties")[0].items()
        if not key.startswith("__")
    }
    labels = {"namespace": "hr", "account": "1111"}
    wanted = spline_properties(
        "https://lineage.example.org/producer",
        platform="glue",
        api_key="hw_1",
        labels=labels,
    )
    # The script of the job adds the key: arguments of a job can be read by many.
    del wanted["spark.spline.lineageDispatcher.http.header.X-API-Key"]
    given = {
        name: value.replace("${var.url}", "https://lineage.example.org")
        for name, value in given.items()
    }
    rules = given.pop(LABELS)
    assert given == {name: value for name, value in wanted.items() if name != LABELS}
    rules = rules.replace("${var.namespace}", "hr").replace("${local.account}", "1111")
    assert json.loads(rules.replace('\\"', '"').replace("\\\\,", ",")) == json.loads(
        wanted[LABELS].replace("\\,", ",")
    )


def test_arguments_that_glue_adds_are_left_alone() -> None:
    arguments = ["--JOB_NAME", "x", "--agent", "listener", "--example", "report_managers"]
    arguments += ["--raw", "s3://r/hr", "--curated", "s3://c", "--aggregated", "s3://a"]
    arguments += ["--database", "d", "--key_secret", "arn", "--enable-metrics", "true"]
    given = load_script(SCRIPT).read_arguments(arguments)
    assert (given.example, given.curated) == ("report_managers", "s3://c")


def test_the_lake_of_buckets_has_the_places_that_the_jobs_ask_for() -> None:
    lake = load_script(SCRIPT).BucketLake("s3://r/hr", "s3://c", "s3://a")
    assert lake.raw("salaries.csv") == "s3://r/hr/salaries.csv"
    assert lake.curated_employees == "s3://c/employees"
    assert lake.managers_report == "s3://a/managers"
    assert lake.absence_ranking == "s3://a/absence_ranking"


@pytest.mark.spark
def test_the_jobs_run_by_their_script_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of them, in folders instead of buckets; documents go to a file."""
    from pyspark.sql import SparkSession

    shutil.copytree(ROOT / "spark_agent_config/examples/data", tmp_path / "raw")
    secret = SimpleNamespace(get_secret_value=lambda SecretId: {"SecretString": "hw_1"})
    monkeypatch.setattr(boto3, "client", lambda _name: secret)
    script = load_script(SCRIPT)
    monkeypatch.setattr(
        script, "open_session", lambda name, _settings: local_session(name, tmp_path)
    )
    places = {name: str(tmp_path / name) for name in ("raw", "curated", "aggregated")}
    for example in ("curate_employees", "report_managers"):
        arguments = ["--agent", "listener", "--example", example, "--database", "default"]
        arguments += ["--key_secret", "arn", "--JOB_NAME", example]
        for name, place in places.items():
            arguments += [f"--{name}", place]
        script.main(arguments)
    assert SparkSession.getActiveSession() is None
    answer = [json.loads(line) for line in (tmp_path / "lineage.ndjson").read_text().splitlines()]
    outputs = [
        line["body"]["operations"]["write"]["outputSource"]
        for line in answer
        if line["kind"] == "plan"
    ]
    assert outputs == [f"file:{tmp_path}/curated/employees", f"file:{tmp_path}/aggregated/managers"]


def local_session(name: str, folder: Path) -> object:
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[1]")
        .appName(name)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.headwater.url", f"file:{folder}/lineage.ndjson")
        .getOrCreate()
    )
