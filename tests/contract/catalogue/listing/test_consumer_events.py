"""Lists of executions and data sources mean the same on every database, in every order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_model.facts import ArrivalRow, EventLabelRow, EventRow, ExecutionRow, Row, SchemaUseRow
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.events import Events
from graph_model.stores.catalogue_values import EventFilter, ListPage, SortField, SortOrder
from graph_model.stores.database import open_database
from graph_model.values import plain
from tests.contract.databases import EVERY, empty_database, recorded_plans
from tests.contract.rows import a_dataset, an_execution, an_execution_plan

ASCENDING, DESCENDING = SortOrder.ASCENDING, SortOrder.DESCENDING
EVERYTHING = EventFilter()

EXECUTIONS = (
    an_execution("ex-0", plan_id="p-1", execution_plan="xp-1", target="ds-1", at=50,
                 application_id="app-b", duration_ns=None, error="boom", state="failed"),
    an_execution("ex-1", plan_id="p-0", execution_plan="xp-0", target="ds-0", at=20,
                 application_id="app-a", duration_ns=7, error=None, mode="append"),
    an_execution("ex-2", plan_id="p-0", execution_plan="xp-0", target="ds-0", at=40,
                 application_id="", duration_ns=3, error=None, mode="append"),
    an_execution("ex-3", plan_id="p-1", execution_plan="xp-1", target="ds-1", at=50,
                 application_id="app-c", duration_ns=5, error=None),
)  # fmt: skip
NAMES = {"xp-0": ("spark 3.5.1", "Ärger"), "xp-1": ("spark 2.4.8", "brief")}
URIS = {"ds-0": "s3://lake/z", "ds-1": "s3://lake/a_b", "ds-2": "s3://lake/never"}
FORMATS = {"ds-0": "csv", "ds-1": "parquet"}


def rows() -> list[Row]:
    listed: list[Row] = [a_dataset(key, uri) for key, uri in URIS.items()]
    for key, (system, name) in NAMES.items():
        listed.append(
            an_execution_plan(
                key, plan_id=f"p{key[2:]}", system=system, name=name, content_hash=f"h{key[2:]}",
                logical_plan=f"lp{key[2:]}",
            )
        )  # fmt: skip
        listed.append(SchemaUseRow(f"lp{key[2:]}", f"ds{key[2:]}", "", "write"))
    for row in EXECUTIONS:
        words = "\n".join((*NAMES[row.execution_plan], URIS[row.target], row.application_id))
        append = row.mode == "append"
        listed.append(EventRow(row.id, FORMATS[row.target], append, plain(words), "{}", "{}"))
        listed.append(EventLabelRow(row.id, "team", "red" if append else "blue"))
    listed += [ArrivalRow(row.id, RECEIVED[row.id]) for row in EXECUTIONS]
    return [*listed, *EXECUTIONS, ArrivalRow("ex-0", 900), ArrivalRow("xp-0", 150)]


RECEIVED = {"ex-0": 200, "ex-1": 300, "ex-2": 200, "ex-3": 300}


@pytest.fixture(params=EVERY)
def events(request: pytest.FixtureRequest) -> Iterator[Events]:
    with empty_database(request.param, request) as url:
        catalogue = Catalogue(open_database(url))
        catalogue.record(rows())
        yield catalogue.events
        catalogue.close()


def page(sort: SortField = SortField.TIMESTAMP, order: SortOrder = DESCENDING) -> ListPage:
    return ListPage(sort, order, 0, 100)


def ids(events: Events, event_filter: EventFilter, listed: ListPage | None = None) -> list[str]:
    found = events.executions(event_filter, listed or page())
    assert events.count_executions(event_filter) == len(found)
    return [record.write.execution.id for record in found if record.write is not None]


def sources(events: Events, event_filter: EventFilter, listed: ListPage) -> list[str]:
    found = events.data_sources(event_filter, listed)
    assert events.count_data_sources(event_filter) == len(found)
    return [record.dataset.id for record in found]


def value_of(row: ExecutionRow, field: SortField) -> Any:
    match field:
        case SortField.EXECUTION_EVENT_ID:
            return (row.plan_id, row.at)
        case SortField.FRAMEWORK_NAME:
            return NAMES[row.execution_plan][0]
        case SortField.APPLICATION_NAME:
            return NAMES[row.execution_plan][1]
        case SortField.DATA_SOURCE_NAME:
            return URIS[row.target].rsplit("/", 1)[-1]
        case SortField.DATA_SOURCE_URI:
            return URIS[row.target]
        case SortField.DATA_SOURCE_TYPE:
            return FORMATS[row.target]
        case SortField.APPEND:
            return row.mode == "append"
    names = {SortField.EXECUTION_PLAN_ID: "plan_id", SortField.APPLICATION_ID: "application_id",
             SortField.TIMESTAMP: "at", SortField.DURATION_NS: "duration_ns",
             SortField.ERROR: "error"}  # fmt: skip
    return getattr(row, names[field])


@pytest.mark.parametrize("order", list(SortOrder))
@pytest.mark.parametrize("field", list(SortField))
def test_every_order_is_that_of_the_values_with_the_unknown_least(
    events: Events, field: SortField, order: SortOrder
) -> None:
    newest_first = sorted(EXECUTIONS, key=lambda row: (row.at, row.id), reverse=True)

    def key(row: ExecutionRow) -> Any:
        value = value_of(row, field)
        return (value is not None, value) if value is not None else (False,)

    expected = sorted(newest_first, key=key, reverse=order == DESCENDING)
    if order == DESCENDING:  # reversed sorting keeps equal ones in place
        expected = sorted(newest_first, key=key, reverse=True)
    assert ids(events, EVERYTHING, page(field, order)) == [row.id for row in expected]


@pytest.mark.parametrize(
    ("event_filter", "found"),
    [
        (EventFilter(since=40), ["ex-3", "ex-0", "ex-2"]),
        (EventFilter(until=40), ["ex-2", "ex-1"]),
        (EventFilter(since=40, until=40), ["ex-2"]),
        (EventFilter(application_id="app-a"), ["ex-1"]),
        (EventFilter(targets=frozenset({"ds-0"})), ["ex-2", "ex-1"]),
        (EventFilter(targets=frozenset()), []),
        (EventFilter(append=frozenset({True})), ["ex-2", "ex-1"]),
        (EventFilter(append=frozenset({False, None})), ["ex-3", "ex-0"]),
        (EventFilter(append=frozenset({None})), []),
        (EventFilter(search="ARGER"), ["ex-2", "ex-1"]),
        (EventFilter(search="a_b"), ["ex-3", "ex-0"]),
        (EventFilter(search="a%b"), []),
        (EventFilter(labels=(("team", ("red", "green")),)), ["ex-2", "ex-1"]),
        (EventFilter(labels=(("team", ("red",)), ("team", ("blue",)))), []),
        (EventFilter(labels=(("team", ()),)), []),
        (EventFilter(received_by=200), ["ex-0", "ex-2"]),
        (EventFilter(received_by=199), []),
        (EventFilter(received_by=300), ["ex-3", "ex-0", "ex-2", "ex-1"]),
        (EventFilter(since=40, append=frozenset({False}), search="app-c"), ["ex-3"]),
    ],
)
@pytest.mark.parametrize("sort", [SortField.TIMESTAMP, SortField.DATA_SOURCE_TYPE])
def test_every_filter_under_an_index_and_under_a_join(
    events: Events, event_filter: EventFilter, found: list[str], sort: SortField
) -> None:
    assert set(ids(events, event_filter, page(sort))) == set(found)
    assert ids(events, event_filter) == found


def test_pages_follow_each_other(events: Events) -> None:
    pages = [
        events.executions(EVERYTHING, ListPage(SortField.ERROR, ASCENDING, offset, 1))
        for offset in range(5)
    ]
    found = [r.write.execution.id for listed in pages for r in listed if r.write is not None]
    assert found == ["ex-3", "ex-2", "ex-1", "ex-0"]


def test_a_data_source_has_its_last_write_whatever_became_of_it(events: Events) -> None:
    by_uri = page(SortField.DATA_SOURCE_URI, ASCENDING)
    found = {r.dataset.id: r.write for r in events.data_sources(EVERYTHING, by_uri)}
    assert list(found) == ["ds-1", "ds-2", "ds-0"]
    assert found["ds-2"] is None
    assert {key: write.execution.id for key, write in found.items() if write is not None} == {
        "ds-1": "ex-3", "ds-0": "ex-2",
    }  # fmt: skip


def test_a_frozen_list_holds_the_items_that_had_come_by_then(events: Events) -> None:
    """ds-2 is told of by nothing that comes; of ds-0 the plan came before any execution."""
    by_uri = page(SortField.DATA_SOURCE_URI, ASCENDING)

    def listed(by: int) -> dict[str, str | None]:
        found = events.data_sources(EventFilter(received_by=by), by_uri)
        assert events.count_data_sources(EventFilter(received_by=by)) == len(found)
        return {r.dataset.id: r.write and r.write.execution.id for r in found}

    assert listed(149) == {"ds-2": None}
    assert listed(150) == {"ds-2": None, "ds-0": None}
    assert listed(200) == {"ds-1": "ex-0", "ds-2": None, "ds-0": "ex-2"}
    assert listed(300) == {"ds-1": "ex-3", "ds-2": None, "ds-0": "ex-2"}


@pytest.mark.parametrize(
    ("event_filter", "found"),
    [
        (EVERYTHING, ["ds-2", "ds-0", "ds-1"]),
        (EventFilter(since=41), ["ds-1"]),
        (EventFilter(append=frozenset({None})), ["ds-2"]),
        (EventFilter(append=frozenset({None, True})), ["ds-2", "ds-0"]),
        (EventFilter(search="NEVER"), ["ds-2"]),
        (EventFilter(search="brief"), ["ds-1"]),
        (EventFilter(labels=(("team", ("red",)),)), ["ds-0"]),
        (EventFilter(targets=frozenset({"ds-2"})), ["ds-2"]),
        (EventFilter(application_id="app-c"), ["ds-1"]),
    ],
)
def test_data_sources_are_filtered_by_their_last_write(
    events: Events, event_filter: EventFilter, found: list[str]
) -> None:
    assert sources(events, event_filter, page(SortField.TIMESTAMP, ASCENDING)) == found
    assert sources(events, event_filter, page(SortField.TIMESTAMP, DESCENDING)) == found[::-1]


def test_times_are_those_of_everything_but_the_window(events: Events) -> None:
    assert events.execution_times(EventFilter(since=45)) == (20, 50)
    assert events.data_source_times(EventFilter(since=45)) == (40, 50)
    assert events.execution_times(EventFilter(search="none such")) is None


def test_events_of_one_plan_and_time_are_told_apart(events: Events) -> None:
    found = events.executions(EVERYTHING, page())
    assert {r.write.execution.id for r in found if r.write is not None and r.write.ambiguous} == {
        "ex-0", "ex-3",
    }  # fmt: skip
    assert [row.id for row in events.executions_at({("p-1", 50)})] == ["ex-0", "ex-3"]
    assert events.executions_at({("p-1", 51), ("p-2", 50)}) == ()
    several = {("p-1", 51), *(("p-1", at) for at in range(60, 2_000)), ("p-1", 50)}
    assert [row.id for row in events.executions_at(several)] == ["ex-0", "ex-3"]


def test_plans_and_labels_are_listed(events: Events) -> None:
    assert events.plan_ids(None, 0, 10) == (("p-1", "p-0"), 2)
    assert events.plan_ids(40, 0, 10) == (("p-0",), 1)
    assert events.plan_ids(None, 1, 10) == (("p-0",), 2)
    assert events.label_names() == ("team",)
    assert events.label_values("team") == ("blue", "red")
    everything = {f"{kind}-{number}" for kind in ("ds", "job") for number in range(9)}
    assert events.label_names(everything) == events.label_values("team", everything) == ()
    assert events.label_values("team", {"ds-9"}) == ("blue", "red")
    assert [row.id for row in events.plans({"xp-0", "xp-9"})] == ["xp-0"]


def test_a_write_ends_with_the_next_full_overwrite_that_worked(events: Events) -> None:
    """ex-0 failed, ex-2 appends; ex-3 is the only full overwrite. One of the same write is none."""
    earlier = an_execution("ex-9", target="ds-1", at=10, application_id="app-c", reads="other")
    assert events.next_overwrite(earlier) == 50
    assert events.next_overwrite(earlier._replace(at=50)) is None
    assert events.next_overwrite(earlier._replace(target="ds-0")) is None
    assert events.next_overwrite(earlier, {"ex-9", "ex-8"}) == 50
    assert events.next_overwrite(earlier, {"ex-9", "ex-3"}) is None


@pytest.mark.parametrize(
    "asked",
    [
        EventFilter(search="app-c"),
        EventFilter(application_id="app-c"),
        EventFilter(labels=(("team", ("blue",)),)),
    ],
)
def test_what_a_hidden_job_said_finds_no_data_source(events: Events, asked: EventFilter) -> None:
    hidden = replace(asked, hidden=frozenset({EXECUTIONS[0].job}))
    assert sources(events, asked, page()) == ["ds-1"]
    assert sources(events, hidden, page()) == []


def test_more_may_be_left_out_than_a_statement_has_parameters(events: Events) -> None:
    """PostgreSQL takes 65,535 of them."""
    many = frozenset(f"unknown-{number}" for number in range(70_000))
    hidden = EventFilter(hidden=many | {"ds-0"})
    assert ids(events, hidden) == ["ex-3", "ex-0"]
    assert sources(events, hidden, page(SortField.TIMESTAMP, ASCENDING)) == ["ds-2", "ds-1"]
    assert events.plan_ids(None, 0, 10, hidden.hidden) == (("p-1",), 1)
    assert ids(events, EventFilter(without=many | {"ex-0", "ex-2"})) == ["ex-3", "ex-1"]
    earlier = an_execution("ex-9", target="ds-1", at=10)
    assert events.next_overwrite(earlier, many) == 50
    assert events.next_overwrite(earlier, many | {"ex-3"}) is None


def test_the_plan_of_a_list_stays_whatever_is_left_out(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "headwater.db")
    catalogue = Catalogue(engine)
    catalogue.record(rows())
    left_out = EventFilter(hidden=frozenset({"ds-0"}), without=frozenset({"ex-0"}))

    def planned(event_filter: EventFilter) -> list[str]:
        with recorded_plans(engine) as lines:
            catalogue.events.count_executions(event_filter)
            catalogue.events.count_data_sources(event_filter)
            catalogue.events.plan_ids(None, 0, 10, event_filter.hidden)
            catalogue.events.next_overwrite(EXECUTIONS[0], event_filter.without)
        return [re.sub(r" \d+$", "", line) for line in lines]  # subqueries are numbered through

    more = planned(left_out)
    listed = [line for line in more if line.startswith(("LIST SUBQUERY", "SCAN anon_"))]
    assert len(listed) == 2 * sum((3, 1, 2 * 2, 1))  # evaluated once: none of them is correlated
    assert [line for line in more if line not in listed] == planned(EVERYTHING)
    engine.dispose()


@pytest.mark.parametrize("kind", EVERY)
def test_a_write_to_a_branch_ends_no_write_to_another_and_is_no_last_one(
    request: pytest.FixtureRequest, kind: str
) -> None:
    first = an_execution("ex-10", target="ds-1", at=60, execution_plan="xp-1", plan_id="p-1")
    audit = first._replace(id="ex-11", at=70, version="v2", version_number=2, branch="audit")
    again = audit._replace(id="ex-12", at=80, version="v3", version_number=3)
    with empty_database(kind, request) as url:
        catalogue = Catalogue(open_database(url))
        catalogue.record([*rows(), first, audit, again])
        assert catalogue.events.next_overwrite(first) is None
        assert catalogue.events.next_overwrite(audit) == 80
        listed = catalogue.events.data_sources(EventFilter(targets=frozenset({"ds-1"})), page())
        assert [one.write and one.write.execution.id for one in listed] == ["ex-10"]
        catalogue.close()


@pytest.mark.parametrize("kind", EVERY)
def test_where_one_write_may_be_told_twice_is_found(
    request: pytest.FixtureRequest, kind: str
) -> None:
    def told(key: str, application: str, **values: Any) -> ExecutionRow:
        return an_execution(key, target="ds-1", application_id=application, **values)

    ran = [
        told("ex-20", "two", at=60, producer="spline"), told("ex-21", "two", at=61, producer="x"),
        told("ex-22", "ctas", at=70, command="CreateDataSourceTableAsSelectCommand"),
        told("ex-23", "one", at=80, job="job-9", run="run-9"),
    ]  # fmt: skip
    ran = [row._replace(execution_plan="xp-1", plan_id="p-1") for row in ran]
    with empty_database(kind, request) as url:
        catalogue = Catalogue(open_database(url))
        catalogue.record([*rows(), *ran])
        told_twice = catalogue.events.repeated_writes(EVERYTHING, 9)
        assert told_twice[:2] == (("ds-1", "ctas"), ("ds-1", "two"))
        assert catalogue.events.repeated_writes(EVERYTHING, 2) == (("ds-1", "ctas"),)
        assert catalogue.events.repeated_writes(EventFilter(until=60), 9) == told_twice[2:]
        asked = EventFilter(since=61)
        assert catalogue.events.listed(asked, {"ex-20", "ex-21", "none"}) == {"ex-21"}
        before = catalogue.events.count_executions(asked)
        without = replace(asked, without=frozenset({"ex-21", "ex-20"}))
        assert catalogue.events.count_executions(without) == before - 1
        assert catalogue.written_by("job-9", ["run-9", "run-8"]) == {("ds-1", "one")}
        assert catalogue.written_by("job-8", ["run-9"]) == frozenset()
        catalogue.close()


def test_first_and_newest_runs_of_plans(events: Events) -> None:
    plans = {"lp-1", "lp-9"}
    assert events.first_of_plans(plans, 0) == {"lp-1": 20}
    assert events.first_of_plans(plans, 20) == {"lp-1": 40}
    assert events.first_of_plans(plans, 50) == {}
    newest = events.newest_of_plans(plans, 45)
    assert {plan: row.id for plan, row in newest.items()} == {"lp-1": "ex-2"}


# --- runs that have no plan ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_an_event_tells_values_that_no_plan_tells(
    request: pytest.FixtureRequest, kind: str
) -> None:
    told = an_execution("ex-8", plan_id="run:R-1", execution_plan="", target="ds-2", at=70)
    untold = an_execution("ex-9", plan_id="run:R-2", execution_plan="", target="ds-2", at=60)
    event = EventRow("ex-8", "delta", True, "flow", '{"team":["red"]}', "{}", "flink 2.0", "flow")
    with empty_database(kind, request) as url:
        catalogue = Catalogue(open_database(url))
        declared = an_execution("ex-7", plan_id="job:d", execution_plan="", target="ds-2", at=80,
                                kind="declaration")  # fmt: skip
        catalogue.record([*rows(), told, untold, declared, event])
        listed = catalogue.events.executions(EVERYTHING, page())
        records = {one.write.execution.id: one.write for one in listed if one.write is not None}
        assert not {"ex-7", "ex-9"} & records.keys()
        assert (records["ex-8"].system, records["ex-8"].application) == ("flink 2.0", "flow")
        by_system = ids(catalogue.events, EVERYTHING, page(SortField.FRAMEWORK_NAME, ASCENDING))
        assert (by_system[0], len(by_system)) == ("ex-8", len(EXECUTIONS) + 1)
        assert "run:R-1" not in catalogue.events.plan_ids(None, 0, 10)[0]
        (source,) = [
            one
            for one in catalogue.events.data_sources(EVERYTHING, page())
            if one.dataset.id == "ds-2"
        ]
        assert source.write is not None
        assert source.write.execution.id == "ex-8"
        catalogue.close()
