"""A chain of more jobs than a picture shows, asked to its end."""

from __future__ import annotations

from typing import Any

from tests.e2e.small_client import client_of
from tests.projections import project
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan

START = 1_700_000_000_000
LENGTH = 60


def a_step(number: int) -> dict[str, Any]:
    body = a_plan(id=f"{number:08d}-2222-5333-8444-555555555555", name=f"step {number}")
    write = {**body["operations"]["write"], "outputSource": f"file:/data/{number + 1}"}
    read = {**body["operations"]["reads"][0], "inputSources": [f"file:/data/{number}"]}
    return {**body, "operations": {**body["operations"], "write": write, "reads": [read]}}


def test_a_chain_of_sixty_jobs_is_walked_to_its_end_and_not_beyond_the_bound() -> None:
    steps = [a_step(number) for number in range(LENGTH)]
    sent = [
        one
        for number, body in enumerate(steps)
        for one in (plan(body), event(an_event(START + number, planId=body["id"])))
    ]
    headwater = project(sent, stepwise=False)
    client = client_of(headwater, START)
    path = f"/graph/lineage?node=dataset:file:/data/{LENGTH}&direction=upstream&depth="
    whole = client.get(f"{path}500").get_json()
    assert whole["depth"] == {"asked": 500, "reached": LENGTH}
    assert whole["partial"] is None
    assert len(whole["nodes"]) == 2 * LENGTH + 1
    assert client.get(f"{path}59").get_json()["depth"]["reached"] == 59
    refused = client.get(f"{path}501")
    assert refused.status_code == 400
    assert refused.get_json()["errors"] == {"depth": ["an integer from 0 to 500"]}
    headwater.close()
