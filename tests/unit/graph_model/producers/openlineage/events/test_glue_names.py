"""Glue writes its run into the application's name; old clients give no other sign of Spark."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model.naming import DEFAULT_RULES, JobName
from graph_model.producers.openlineage.events.accumulate import accumulate
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from graph_model.producers.openlineage.events.jobs import JobPlace, place_job

RUN = "jr_0a1b2c3de01d0b48"
APPLICATION = f"nativespark_gold_daily_{RUN}"
COMMAND = f"{APPLICATION}.execute_save_into_data_source_command.t"


def place(name: str, facets: dict[str, Any]) -> JobPlace:
    event = read_event(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-03-01T10:00:00Z",
            "run": {"runId": "r", "facets": facets},
            "job": {"namespace": "default", "name": name},
            "outputs": [{"namespace": "s3://lake", "name": "o"}] if "." in name else [],
        }
    )
    assert isinstance(event, RunEvent)
    return place_job(accumulate([event]).statement, "r", "", DEFAULT_RULES)


def parent(name: str) -> dict[str, Any]:
    return {"parent": {"run": {"runId": "app"}, "job": {"namespace": "default", "name": name}}}


@pytest.mark.parametrize("facets", [{}, parent(APPLICATION)])
def test_a_command_belongs_to_the_job_whatever_run_its_name_tells(facets: dict[str, Any]) -> None:
    found = place(COMMAND, facets)
    assert found.job == JobName("default", "gold_daily", shared=False)
    assert (found.role, found.command) == ("command", "SaveIntoDataSourceCommand")


def test_the_application_is_the_same_job() -> None:
    found = place(f"{APPLICATION}_attempt_1", {})
    assert (found.job.name, found.role) == ("gold_daily", "application")


@pytest.mark.parametrize("name", ["nativespark_gold_jr_team.load", f"gold_{RUN}.load"])
def test_other_names_stay_as_their_client_gives_them(name: str) -> None:
    assert place(name, {}).job.name == name
