"""Runs the Glue jobs of the employees' example each night, in their order."""

from datetime import datetime

from airflow import DAG
from airflow.providers.amazon.aws.operators.glue import GlueJobOperator

PREFIX = "${name}"  # Terraform puts the deployment's name here

with DAG(
    "employees",
    schedule="0 4 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    tags=["headwater"],
) as dag:
    jobs = {
        name: GlueJobOperator(task_id=name, job_name=f"{PREFIX}-{name.replace('_', '-')}")
        for name in ("curate_employees", "report_managers", "load_attendance", "rank_absences")
    }
    jobs["curate_employees"] >> [jobs["report_managers"], jobs["load_attendance"]]
    [jobs["report_managers"], jobs["load_attendance"]] >> jobs["rank_absences"]
