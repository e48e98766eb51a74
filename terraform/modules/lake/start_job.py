"""The script of the example's Glue jobs: a session that is observed, and one job in it.

The API key comes from Secrets Manager, so it is in no argument that others may read. Glue gives
more arguments than these (JOB_NAME and others); they are left alone.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import boto3

AGENT_KEY = "spark.spline.lineageDispatcher.http.header.X-API-Key"


@dataclass(frozen=True)
class BucketLake:
    """Where the example's data lies; the same names as ``spark_agent_config.examples.lake``."""

    raw_folder: str
    curated: str
    aggregated: str

    def raw(self, name: str) -> str:
        return f"{self.raw_folder}/{name}"

    @property
    def curated_employees(self) -> str:
        return f"{self.curated}/employees"

    @property
    def managers_report(self) -> str:
        return f"{self.aggregated}/managers"

    @property
    def absence_ranking(self) -> str:
        return f"{self.aggregated}/absence_ranking"


def main(arguments: Sequence[str]) -> None:
    given = read_arguments(arguments)
    key = read_key(given.key_secret)
    example = importlib.import_module(f"spark_agent_config.examples.{given.example}")
    spark = open_session(example.NAME, {AGENT_KEY: key} if given.agent == "spline" else {})
    if given.agent == "listener":
        from spark_agent_config.listener import observe

        observe(spark, api_key=key)
    spark.catalog.setCurrentDatabase(given.database)
    run(example, spark, BucketLake(given.raw, given.curated, given.aggregated))
    spark.stop()


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("agent", "example", "raw", "curated", "aggregated", "database", "key_secret"):
        parser.add_argument(f"--{name}", required=True)
    return parser.parse_known_args(arguments)[0]


def read_key(secret: str) -> str:
    return str(boto3.client("secretsmanager").get_secret_value(SecretId=secret)["SecretString"])


def open_session(name: str, settings: dict[str, str]) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name).enableHiveSupport()
    for setting, value in settings.items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()


def run(example: Any, spark: Any, lake: BucketLake) -> None:
    """The job, as it is; employees come from a file, since there is no HR database here."""
    if hasattr(example, "curate"):
        employees = spark.read.option("header", True).option("inferSchema", True)
        example.curate(spark, lake, employees.csv(lake.raw("employees.csv")))
    else:
        example.run(spark, lake)


if __name__ == "__main__":
    main(sys.argv[1:])
