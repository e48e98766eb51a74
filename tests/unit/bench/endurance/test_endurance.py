"""A year in small: the same runs for the same seed, and the curves from the samples."""

from __future__ import annotations

import json
import pickle
import xml.etree.ElementTree as xml
from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.endurance.curves import panels
from bench.endurance.documents import Document, documents, table
from bench.endurance.lost import find_lost, key_of
from bench.endurance.picture import draw, round_up
from bench.endurance.report import table as as_table
from bench.endurance.rhythms import DEFAULT, Rhythm, deal, read_rhythms
from bench.endurance.samples import Answered, Sample, State, read_state, write_state
from bench.endurance.year import COLUMN_ADDED, RENAMED, Year

HOURS_A_YEAR = 365 * 24
QUICK = "hourly=50,daily=50"


def year(seed: int = 1, jobs: int = 100, rhythms: str = QUICK) -> Year:
    return Year(seed, jobs, read_rhythms(rhythms))


def sent(of: Year, runs: int) -> list[Document]:
    return [document for number in range(runs) for document in documents(of, number)]


# --- the runs ------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_documents_in_another_process_too() -> None:
    assert sent(year(), 50) == sent(pickle.loads(pickle.dumps(year())), 50)


def test_another_seed_gives_other_documents() -> None:
    first, other = sent(year(1), 50), sent(year(2), 50)
    assert {item.key for item in first}.isdisjoint(
        entry.key for entry in other if entry.key[0] == "run"
    )


def test_runs_come_in_the_order_of_their_hours_and_each_job_in_its_rhythm() -> None:
    runs = list(islice(year(), 5_000))
    assert [item.hour for item in runs] == sorted(run.hour for run in runs)
    assert all(item == year().run(number) for number, item in list(enumerate(runs))[::997])
    of_jobs: dict[int, list[int]] = {}
    for entry in runs:
        of_jobs.setdefault(entry.job, []).append(entry.hour)
    assert len(of_jobs) == 100
    gaps = {job: {b - a for a, b in pairwise(h)} for job, h in of_jobs.items()}
    assert Counter(gap for item in gaps.values() for gap in item) == {1: 50, 24: 50}


@given(st.integers(1, 200), st.integers(0, 3), st.integers(0, 5))
def test_every_job_runs_once_a_period(jobs: int, seed: int, cycle: int) -> None:
    of = Year(seed, jobs, (Rhythm(4, 1), Rhythm(6, 2)))
    often, seldom = deal(jobs, of.rhythms)
    length = 3 * often + 2 * seldom
    runs = [of.run(number) for number in range(cycle * length, (cycle + 1) * length)]
    counted = Counter(run.job for run in runs)
    assert set(counted) == set(range(jobs))
    assert Counter(counted.values()) == Counter({3: often, 2: seldom})
    assert all(12 * cycle <= run.hour < 12 * (cycle + 1) for run in runs)


def test_a_year_of_the_default_is_a_million_runs() -> None:
    runs = sum(
        HOURS_A_YEAR // item.hours * jobs
        for item, jobs in zip(
            read_rhythms(DEFAULT), deal(5_000, read_rhythms(DEFAULT)), strict=True
        )
    )
    assert 1_000_000 <= runs <= 1_100_000


@pytest.mark.parametrize(
    "text",
    ["", "hourly", "daily=x", "monthly=3", "0h=1", "h=1", "daily=-1", "daily=0", "8h=1,9999h=1"],
)
def test_an_unknown_rhythm_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"hourly, daily|periods"):
        read_rhythms(text)


def test_a_rhythm_may_be_any_number_of_hours() -> None:
    assert read_rhythms("6h=1, weekly=2.5") == (Rhythm(6, 1), Rhythm(168, 2.5))


# --- the documents -------------------------------------------------------------------------------


def test_a_year_has_every_kind_of_event() -> None:
    of = year(jobs=60, rhythms="weekly=1")
    result = sent(of, 60 * 52)
    ends = Counter(item.key[2] for item in result if item.key[0] == "run")
    events = [json.loads(item.body)[0] for item in result if item.key[0] == "event"]
    assert ends["COMPLETE"] > 20 * ends["FAIL"] > 0
    assert any("error" in event for event in events)
    assert b'"RENAME"' in b"".join(item.body for item in result if item.key[0] == "run")
    assert b'"OVERWRITE"' in b"".join(item.body for item in result)
    assert {b'"append": true' in item.body for item in result if item.key[0] == "plan"} == {
        True,
        False,
    }
    assert b'"added_1"' in b"".join(item.body for item in result)
    both = {e["extra"]["appId"] for e in events} & set(applications(result))
    assert both, "some writes are told by two agents, of one application"


def applications(found: list[Document]) -> list[str]:
    facets = [json.loads(item.body)["run"]["facets"] for item in found if item.key[0] == "run"]
    return [
        facet["spark_applicationDetails"]["applicationId"]
        for facet in facets
        if "spark_applicationDetails" in facet
    ]


def test_a_plan_is_sent_again_until_something_changes() -> None:
    of = year(jobs=40, rhythms="daily=1")
    plans = {item.key: item.body for item in sent(of, 40 * 200) if item.key[0] == "plan"}
    jobs = Counter(json.loads(body)["name"] for body in plans.values())
    assert Counter(jobs.values())[1] > len(jobs) / 2
    assert max(jobs.values()) > 1


def test_readers_of_a_renamed_table_read_its_new_name() -> None:
    of = year(jobs=400)
    (job, hour) = next(
        (job, hour)
        for job in range(300)
        for hour in range(0, HOURS_A_YEAR, 24)
        if of.times(RENAMED, job, hour)
    )
    assert table(of, job, hour) != table(of, job, 0)
    assert table(of, ~3, hour) == table(of, ~3, 0)
    assert of.times(COLUMN_ADDED, job, hour) >= of.times(COLUMN_ADDED, job, 0)


def test_a_document_missing_from_the_journal_is_found() -> None:
    of = year()
    lines = [line(item) for item in sent(of, 30)]
    assert list(find_lost(of, 30, lines)) == []
    gone = sent(of, 30)[7].key
    assert list(
        find_lost(of, 30, [item for item in lines if key_of(json.loads(item)) != gone])
    ) == [gone]


def line(document: Document) -> bytes:
    """As the journal exports it."""
    body: Any = json.loads(document.body)
    kind = {"plan": "plan", "event": "event"}.get(document.key[0], "openlineage-run")
    result = body[0] if isinstance(body, list) else body
    plan_id = document.key[1]
    return json.dumps({"kind": kind, "planId": plan_id, "body": result}).encode()


# --- samples, curves, picture, table -------------------------------------------------------------

SAMPLE = Sample(
    runs=10, documents=21, runs_a_second=5.0, service_cpu=2.0, engine_cpu=None,
    questions={"lineage 5": Answered(1.0, 20.0, 5.0, 3.0), "a < b": Answered(1.0, 2.0, 1.0, 3.0)},
    elements=9, heap=None, service_memory=100.0, engine_memory=300.0,
    disk={"journal": 1_000_000}, stop=1.0, start=2.0,
)  # fmt: skip


def test_a_state_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    assert read_state(file) is None
    state = replace(State({"seed": 1}).with_sample(SAMPLE), sent=15)
    write_state(state, file)
    assert read_state(file) == state


def test_the_table_compares_the_last_sample_with_the_first() -> None:
    later = replace(SAMPLE, runs=20, service_cpu=3.0)
    answer = as_table(panels([SAMPLE, later]))
    assert "| service (CPU, ms a run) | 2 | 3 | 1.50 |" in answer
    assert "heap" not in answer, "a size that was never measured has no line"
    assert as_table(panels([])) == "nothing is measured yet\n"


def test_the_picture_is_well_formed_whatever_is_measured() -> None:
    for samples in ([], [SAMPLE], [SAMPLE, replace(SAMPLE, runs=20)]):
        assert xml.fromstring(draw(panels(samples))).tag.endswith("svg")
    assert "a &lt; b" in draw(panels([SAMPLE]))


@pytest.mark.parametrize(("value", "end"), [(0, 1), (1, 1), (3, 5), (0.07, 0.1), (501, 1_000)])
def test_an_axis_ends_at_a_round_number(value: float, end: float) -> None:
    assert round_up(value) == pytest.approx(end)
