"""The writes of many spans at once, held against brute force, on every database."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from graph_model.facts import (
    EVERY_BRANCH,
    ApplicationRow,
    ExecutionRow,
    HostlessNameRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    ReadVersionRow,
)
from graph_model.labels import CTAS_COMMANDS
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue_values import (
    OlderWrites,
    Span,
    SpanWrites,
    SuccessfulWrite,
    VersionId,
    VersionSpan,
)
from graph_model.stores.database import open_database
from tests.contract.databases import full_scans, instructions, recorded_plans
from tests.contract.rows import (
    EXECUTIONS,
    PLANS,
    RUNS,
    TARGETS,
    TIMES,
    a_job,
    an_execution,
    property_test,
)

NOWHERE = st.just("")
spans = st.sets(st.builds(Span, TARGETS, TIMES, TIMES, NOWHERE, NOWHERE, NOWHERE), max_size=5)


def inside(rows: list[ExecutionRow], span: Span) -> list[ExecutionRow]:
    return [
        row
        for row in rows
        if (row.kind, row.state, row.target) == ("write", "completed", span.target)
        and span.since <= row.at < span.before
    ]


def by_time(row: ExecutionRow) -> tuple[int, str]:
    return row.at, row.id


def as_sets(found: SpanWrites) -> tuple[set[SuccessfulWrite], set[OlderWrites]]:
    return set(found.writes), set(found.older)


@property_test
@given(rows=EXECUTIONS, asked=spans)
def test_the_newest_writes_of_a_span_are_one_of_each_plan_with_its_run(
    catalogue: Catalogue, rows: list[ExecutionRow], asked: set[Span]
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    for span, found in catalogue.newest_writes(asked).items():
        newest = {row.logical_plan: row for row in sorted(inside(rows, span), key=by_time)}
        assert {(one.write.id, one.run) for one in found} == {
            (row.id, row.run) for row in newest.values()
        }


@property_test
@given(rows=EXECUTIONS, targets=st.sets(TARGETS), most=st.integers(1, 4))
def test_the_newest_writes_of_a_table_have_ended_and_are_of_its_main_branch(
    catalogue: Catalogue, rows: list[ExecutionRow], targets: set[str], most: int
) -> None:
    """Every third execution wrote a branch, every fourth is one of a run in progress."""
    rows = [
        row._replace(branch="" if n % 3 else "audit", running=n % 4 == 1)
        for n, row in enumerate(rows)
    ]
    catalogue.clear()
    catalogue.record(rows)
    ended = [row for row in rows if not row.branch and not row.running]
    written = {
        target: inside(ended, Span(target, -(2**62), 2**62, "", "", "")) for target in targets
    }
    assert catalogue.newest_writes_of(targets, most) == {
        target: tuple(sorted(own, key=by_time, reverse=True)[:most])
        for target, own in written.items()
        if own
    }


@property_test
@given(rows=EXECUTIONS, asked=st.sets(st.tuples(PLANS, RUNS, TIMES), max_size=5))
def test_a_plan_is_of_a_run_in_which_it_completed(
    catalogue: Catalogue, rows: list[ExecutionRow], asked: set[tuple[str, str, int]]
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    assert catalogue.runs_with(asked) == {
        (plan, run, before)
        for plan, run, before in asked
        for row in rows
        if (row.logical_plan, row.run, row.state) == (plan, run, "completed") and row.at < before
    }


@property_test
@given(rows=EXECUTIONS, asked=spans, most=st.integers(0, 8), per_plan=st.integers(1, 3))
def test_the_writes_of_a_span_are_all_of_them_or_the_newest_of_each_plan(
    catalogue: Catalogue, rows: list[ExecutionRow], asked: set[Span], most: int, per_plan: int
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    found = catalogue.writes(asked, most=most, per_plan=per_plan)
    assert found.keys() == asked
    for span, answer in found.items():
        true = inside(rows, span)
        said = {write.id for write in answer.writes}
        if len(true) <= most:
            assert (said, answer.older) == ({row.id for row in true}, ())
            continue
        older = {one.logical_plan: one for one in answer.older}
        for plan in {row.logical_plan for row in true}:
            own = sorted((r for r in true if r.logical_plan == plan), key=lambda r: -r.at)
            cut = own[per_plan].at if len(own) > per_plan else None
            kept = {row.id for row in own if cut is None or row.at > cut}
            assert kept == said & {row.id for row in own}
            if cut is None:
                assert plan not in older
            else:
                assert (older[plan].first, older[plan].last) == (own[-1].at, cut)


@property_test
@given(
    rows=EXECUTIONS,
    asked=st.sets(
        st.builds(
            lambda targets, since, before: tuple(Span(t, since, before) for t in targets),
            st.lists(TARGETS, min_size=1, max_size=2, unique=True),
            TIMES,
            TIMES,
        ),
        max_size=4,
    ),
    reach=st.integers(0, 3),
    most=st.integers(0, 8),
)
def test_a_read_finds_the_writes_since_the_last_full_overwrite_before_it(
    catalogue: Catalogue,
    rows: list[ExecutionRow],
    asked: set[tuple[Span, ...]],
    reach: int,
    most: int,
) -> None:
    catalogue.clear()
    catalogue.record(rows)
    found = catalogue.readable_writes(asked, reach=reach, most=most, per_plan=2)
    assert found.keys() == asked
    for read, readable in found.items():
        before = [
            row for span in read for row in inside(rows, span._replace(since=0, before=span.since))
        ]
        floor = max((row.at for row in before if row.mode == "overwrite"), default=None)
        assert readable.floor == floor
        wider = {s: s._replace(since=0 if floor is None else floor - reach) for s in read}
        expected = catalogue.writes(wider.values(), most=most, per_plan=2)
        assert readable.spans.keys() == wider.keys()
        for span, own in readable.spans.items():
            writes, older = as_sets(expected[wider[span]])
            at_floor = {row.id for row in inside(rows, wider[span]) if row.at == floor}
            assert {write.id for write in own.writes} == {w.id for w in writes} | at_floor
            assert set(own.older) == older


def test_a_write_that_cannot_touch_the_partition_is_left_out(catalogue: Catalogue) -> None:
    catalogue.record([an_execution(f"ex-{n}", at=n) for n in range(5)])
    texts = {"ex-0": "dt=1", "ex-1": "dt=2", "ex-2": "dt=1/h=2", "ex-3": "h=2"}
    catalogue.record([PartitionRow(e, "ds-1", "write", text) for e, text in texts.items()])
    span = Span("ds-1", 0, 9, partition="dt=1/h=3")
    found = catalogue.writes([span], most=9, per_plan=1)[span].writes
    assert {write.id for write in found} == {"ex-0", "ex-2", "ex-3", "ex-4"}


def test_reads_of_one_table_at_several_times_each_find_their_writes(
    catalogue: Catalogue,
) -> None:
    catalogue.record([an_execution(f"ex-{n}", at=n, mode="append") for n in range(6)])
    texts = {"ex-0": "dt=1", "ex-1": "dt=2", "ex-2": "dt=1/h=2", "ex-3": "h=2"}
    catalogue.record([PartitionRow(e, "ds-1", "write", text) for e, text in texts.items()])
    whole = {3: {0, 1, 2}, 4: {0, 1, 2, 3}, 9: {0, 1, 2, 3, 4, 5}}
    asked = {Span("ds-1", at, at): seen for at, seen in whole.items()}
    asked |= {
        Span("ds-1", 9, 9, partition="dt=1/h=3"): {0, 2, 3, 4, 5},
        Span("ds-1", 3, 3, partition="dt=1/h=2"): {0, 2},
        Span("ds-1", 9, 9, partition="dt=2"): {1, 3, 4, 5},
    }
    found = catalogue.readable_writes([(span,) for span in asked], reach=0, most=9, per_plan=1)
    assert {
        span: {int(write.id.removeprefix("ex-")) for write in readable.spans[span].writes}
        for (span,), readable in found.items()
    } == asked


def test_writes_to_a_name_count_where_it_stood(catalogue: Catalogue) -> None:
    catalogue.record([an_execution(f"ex-{n}", at=n, target="name") for n in range(1, 6)])
    catalogue.record([NameRow("name", "here", "ex-2", 2), NameRow("name", "there", "ex-4", 4)])
    here, there = Span("name", 0, 9, "here"), Span("name", 0, 9, "there")
    found = catalogue.writes([here, there], most=9, per_plan=1)
    assert {write.id for write in found[here].writes} == {"ex-1", "ex-2", "ex-3"}
    assert {write.id for write in found[there].writes} == {"ex-4", "ex-5"}
    reads = {(here._replace(since=9),): 3, (there._replace(since=9),): 5}
    by_read = catalogue.readable_writes(reads, reach=0, most=9, per_plan=1)
    assert {read: found.floor for read, found in by_read.items()} == reads
    moments = [("name", at) for at in range(1, 6)]
    assert catalogue.locations_of([*moments, ("none", 1)]) == {
        moment: catalogue.location_of(*moment) for moment in moments
    }
    everywhere = {("name", "here"), ("name", "there")}
    assert catalogue.names_around(["name", "none"]) == everywhere
    assert catalogue.names_around(["here"]) == everywhere
    assert catalogue.names_around(["none"]) == frozenset()


def test_a_location_that_stands_for_itself_has_lost_its_names(catalogue: Catalogue) -> None:
    catalogue.record([NameRow("name", "here", "ex-2", 2), NameRow("here", "here", "ex-4", 4)])
    catalogue.record([NameRow("name", "here", "ex-6", 6)])
    stood = {1: "here", 3: "here", 4: "name", 5: "name", 6: "here", 7: "here"}
    assert {at: catalogue.location_of("name", at) for at in stood} == stood
    moments = [("name", at) for at in stood]
    assert catalogue.locations_of(moments) == {("name", at): stood[at] for at in stood}
    assert catalogue.names_around(["name"]) == {("name", "here"), ("name", "name")}
    assert catalogue.names_around(["here"]) > {("name", "here"), ("name", "name")}


def test_a_name_without_servers_stands_for_the_only_location(catalogue: Catalogue) -> None:
    catalogue.record([HostlessNameRow("topic", "here", "ex-2", 2)])
    catalogue.record([HostlessNameRow("topic", "here", "ex-3", 3)])
    for asked in ("topic", "here"):
        assert catalogue.names_around([asked]) == {("topic", "here")}
    assert catalogue.location_of("topic", 1) == "here"
    catalogue.record([HostlessNameRow("topic", "there", "ex-4", 4)])
    for asked in ("topic", "here", "there"):
        assert catalogue.names_around([asked]) == frozenset()
    assert catalogue.location_of("topic", 9) is None


def test_declarations_of_a_target_are_told_with_its_writes(catalogue: Catalogue) -> None:
    catalogue.record(
        [an_execution("ex-1", kind="declaration"), an_execution("ex-2", target="ds-2")]
    )
    declared, written = (Span("ds-1", 9, 9),), (Span("ds-2", 9, 9),)
    found = catalogue.readable_writes([declared, written], reach=0, most=9, per_plan=1)
    assert {read: one.declared for read, one in found.items()} == {
        declared: True,
        written: False,
    }


def test_a_write_tells_whether_its_partitions_are_known(catalogue: Catalogue) -> None:
    catalogue.record([an_execution("ex-1", at=1), an_execution("ex-2", at=2)])
    catalogue.record([PartitionRow("ex-1", "ds-9", "read", "dt=1")])
    found = catalogue.writes([Span("ds-1", 0, 9)], most=9, per_plan=1)[Span("ds-1", 0, 9)]
    assert {write.id: write.partitioned for write in found.writes} == {"ex-1": True, "ex-2": False}


def made(id: str, number: int, branch: str = "", **values: Any) -> ExecutionRow:
    named = {"version": f"v{number}", "version_number": number, "branch": branch}
    return an_execution(id, **(named | {"at": 10 + number, "mode": "append"} | values))


VERSIONS = [
    made("v0", 0),
    made("v1", 1, mode="overwrite"),
    made("v3", 3, at=9),
    made("a4", 4, "audit", mode="overwrite"),
    made("v5", 5),
    made("v6", 6, mode="overwrite"),
    made("failed", 2, state="failed"),
    made("other", 2, target="ds-2"),
    an_execution("none", at=12),
]


@pytest.mark.parametrize(
    ("span", "ids", "floor", "following"),
    [
        (VersionSpan("ds-1", "", 5), {"v1", "v3", "v5"}, True, (6, 16)),
        (VersionSpan("ds-1", "", 4), {"v1", "v3"}, True, (5, 15)),
        (VersionSpan("ds-1", "", 4, whole=True), {"v0", "v1", "v3"}, False, (5, 15)),
        (VersionSpan("ds-1", "", 5, since=2), {"v1", "v3", "v5"}, True, (6, 16)),
        (VersionSpan("ds-1", "", 5, since=0), {"v0", "v1", "v3", "v5"}, False, (6, 16)),
        (VersionSpan("ds-1", "", 0), {"v0"}, False, (1, 11)),
        (VersionSpan("ds-1", "", 2**63 - 1), {"v6"}, True, None),
        (VersionSpan("ds-1", "audit", 9), {"a4"}, True, None),
        (VersionSpan("ds-1", "audit", 3), set(), False, (4, 14)),
        (VersionSpan("ds-1", "none", 3), set(), False, None),
    ],
)
def test_versions_are_found_from_the_last_overwrite_on(
    catalogue: Catalogue,
    span: VersionSpan,
    ids: set[str],
    floor: bool,
    following: tuple[int, int] | None,
) -> None:
    catalogue.record(VERSIONS)
    found = catalogue.version_writes([span], most=9)[span]
    assert {write.id for write in found.writes} == ids
    assert (found.cut, found.floor, found.following) == (False, floor, following)


def test_of_too_many_versions_the_newest_are_found(catalogue: Catalogue) -> None:
    catalogue.record(VERSIONS)
    span = VersionSpan("ds-1", "", 5)
    found = catalogue.version_writes([span], most=2)[span]
    assert ({write.id for write in found.writes}, found.cut) == ({"v3", "v5"}, True)


def test_a_write_on_another_branch_is_none_of_a_span(catalogue: Catalogue) -> None:
    catalogue.record([made("v0", 0, mode="overwrite"), made("a1", 1, "audit", mode="overwrite")])
    main, every = Span("ds-1", 99, 99), Span("ds-1", 0, 99, branch=EVERY_BRANCH)
    (readable,) = catalogue.readable_writes([(main,)], reach=0, most=9, per_plan=1).values()
    assert (readable.floor, [w.id for w in readable.spans[main].writes]) == (10, ["v0"])
    found = catalogue.writes([every], most=9, per_plan=1)[every]
    assert {write.id for write in found.writes} == {"v0", "a1"}


def test_a_version_is_found_by_its_id(catalogue: Catalogue) -> None:
    catalogue.record([*VERSIONS, made("again", 5, at=99)])
    found = catalogue.writes_by_version(
        [VersionId("ds-1", key, "") for key in ("v5", "v2", "none")]
    )
    assert {key.id: write.id for key, write in found.items()} == {"v5": "v5"}


def test_a_version_of_two_branches_is_first_that_of_the_branch_asked_for(
    catalogue: Catalogue,
) -> None:
    staged, published = made("staged", 5, "audit", at=7), made("published", 5, at=9)
    catalogue.record([row._replace(version="7001") for row in (staged, published)])
    asked = [VersionId("ds-1", "7001", branch) for branch in ("", "audit", "other")]
    found = catalogue.writes_by_version(asked)
    assert [found[one].id for one in asked] == ["published", "staged", "staged"]


def test_reads_of_versions_are_found_by_execution_and_by_plan(
    catalogue: Catalogue,
) -> None:
    read = ReadVersionRow("ex-1", "ds-9", "lp-1", "0", 0, "", -1)
    catalogue.record([an_execution("ex-1", at=1), an_execution("ex-2", at=2), read])
    assert catalogue.read_versions(["ex-1", "ex-2"]) == (read,)
    assert catalogue.bound_reads(["lp-1", "lp-2"]) == {("lp-1", "ds-9")}
    span = Span("ds-1", 0, 9)
    found = catalogue.writes([span], most=9, per_plan=1)[span]
    assert {write.id: write.bound for write in found.writes} == {"ex-1": True, "ex-2": False}


def test_companions_are_told_only_where_something_may_be_told_twice(
    catalogue: Catalogue,
) -> None:
    catalogue.record([an_execution(f"plain-{n}", at=n, application_id="plain") for n in range(3)])
    catalogue.record(
        [
            an_execution("insert", application_id="ctas"),
            an_execution("create", application_id="ctas", command=CTAS_COMMANDS[0]),
            an_execution("agent", application_id="both"),
            an_execution("listener", application_id="both", producer="listener"),
            an_execution("failed", application_id="both", state="failed"),
        ]
    )
    asked = [("ds-1", application) for application in ("plain", "ctas", "both", "none")]
    expected = {"insert", "create", "agent", "listener"}
    assert {row.id for row in catalogue.companions(asked)} == expected
    assert {row.id for row in catalogue.companions_of_target("ds-1")} == expected
    assert catalogue.companions([]) == ()


def test_a_pair_has_the_same_companions_whatever_is_asked_beside_it(
    catalogue: Catalogue,
) -> None:
    for version in ("2.0", "2.1", "2.2"):
        told = {"application_id": version, "producer": f"spline {version}"}
        create = an_execution(f"create {version}", command=CTAS_COMMANDS[0], **told)
        catalogue.record([an_execution(f"insert {version}", **told), create])
    asked = [("ds-1", version) for version in ("2.0", "2.1", "2.2")]
    alone = [catalogue.companions([pair]) for pair in asked]
    assert [len(found) for found in alone] == [2, 2, 2]
    assert set(catalogue.companions(asked)) == {row for found in alone for row in found}


def test_failed_attempts_have_companions_of_their_own(catalogue: Catalogue) -> None:
    catalogue.record(
        [
            an_execution("agent", state="failed"),
            an_execution("client", state="failed", producer="client"),
            an_execution("later", at=2_000),
        ]
    )
    assert {row.id for row in catalogue.companions_of_target("ds-1", "failed")} == {
        "agent",
        "client",
    }
    assert catalogue.companions_of_target("ds-1") == ()


def a_plan_of(job: str) -> LogicalPlanRow:
    return LogicalPlanRow(f"lp-{job}", job, "f", "ds-1", "append", "[]", "[]")


def an_attempt(job: str, at: int, state: str = "failed", **values: Any) -> ExecutionRow:
    plan = f"lp-{job}"
    return an_execution(f"{job}-{at}", job=job, logical_plan=plan, at=at, state=state, **values)


def test_every_job_that_tried_is_found_however_often_another_one_fails(
    catalogue: Catalogue,
) -> None:
    jobs = ("often", "once", "aborted", "well", "elsewhere", "reader", "later")
    catalogue.record(
        [
            *map(a_plan_of, jobs),
            *(an_attempt("often", at) for at in range(1_000, 1_150)),
            *(an_attempt("often", at, "aborted") for at in range(2_000, 2_150)),
            an_attempt("once", 10),
            an_attempt("aborted", 10, "aborted"),
            an_attempt("well", 10, "completed"),
            an_attempt("elsewhere", 10, target="ds-2"),
            an_attempt("reader", 10, kind="read"),
            an_attempt("later", 9_000),
        ]
    )
    assert catalogue.jobs_that_tried("ds-1", None) == {"often", "once", "aborted", "later"}
    assert catalogue.jobs_that_tried("ds-1", 5_000) == {"often", "once", "aborted"}
    assert catalogue.jobs_that_tried("ds-1", 500) == {"once", "aborted"}
    assert catalogue.jobs_that_tried("unknown", None) == set()


# --- applications --------------------------------------------------------------------------------


def lost(id: str, run: str = "run-r", **values: Any) -> ExecutionRow:
    """Of an application that its own events do not name."""
    return an_execution(id, run=run, application_id="", producer="client", **values)


def told(run: str, application: str, own: str) -> ApplicationRow:
    return ApplicationRow(f"ola-{run}-{application}", run, application, own)


def test_an_execution_stands_under_the_application_that_other_events_tell(
    catalogue: Catalogue,
) -> None:
    catalogue.record([an_execution("agent", run="run-a"), lost("lost", at=1_500)])
    catalogue.record([lost("alone", "run-s", at=900), told("run-r", "app-1", "run-a")])
    span = Span("ds-1", 0, 9_000)
    for most in (9, 0):
        found = catalogue.writes([span], most=most, per_plan=3)[span].writes
        assert {row.id: row.application_id for row in found} == {
            "agent": "app-1", "lost": "app-1", "alone": "",
        }  # fmt: skip
    assert {row.id for row in catalogue.companions([("ds-1", "app-1")])} == {"agent", "lost"}
    assert {row.id for row in catalogue.companions_of_target("ds-1")} == {"agent", "lost"}
    assert catalogue.last_writers(["ds-1"], None)["ds-1"].application_id == "app-1"
    assert [row.run for row in catalogue.executions_of(["lost"])] == ["run-a"]


def test_runs_are_listed_under_the_application(catalogue: Catalogue) -> None:
    broken = {"state": "failed", "error": "boom\nat line 2"}
    catalogue.record([an_execution("agent", run="run-a"), lost("lost", at=1_500, **broken)])
    catalogue.record([lost("alone", "run-s", at=900), a_job("job-1", "ns", "load")])
    assert catalogue.list_runs("job-1").total == 3
    catalogue.record([told("run-r", "app-1", "run-a")])
    page = catalogue.list_runs("job-1")
    assert [(run.run, run.executions) for run in page.items] == [("run-a", 2), ("run-s", 1)]
    first = page.items[0]
    assert (first.application_id, first.ended_at, first.error) == ("app-1", 1_500, "boom")
    assert page.total == 2
    assert catalogue.list_jobs(now=0).items[0].runs == 2
    for run in ("run-a", "run-r"):
        assert catalogue.list_runs("job-1", run=run).items == (first,)
        assert {row.id for row in catalogue.executions(run=run).items} == {"agent", "lost"}
    one = catalogue.list_runs("job-1", limit=1)
    assert catalogue.list_runs("job-1", limit=1, cursor=one.next).items == page.items[1:]


def test_a_run_that_two_applications_claim_is_left_alone(catalogue: Catalogue) -> None:
    catalogue.record([an_execution("agent", run="run-a"), lost("lost")])
    catalogue.record([told("run-r", "app-1", "run-a"), told("run-r", "app-2", "run-b")])
    assert catalogue.companions_of_target("ds-1") == ()
    assert catalogue.list_runs("job-1").total == 2
    catalogue.withdraw([told("run-r", "app-2", "run-b")])
    assert catalogue.list_runs("job-1").total == 1


def test_an_execution_that_says_its_application_is_not_moved(catalogue: Catalogue) -> None:
    catalogue.record([an_execution("own", run="run-r"), told("run-r", "app-2", "run-b")])
    (run,) = catalogue.list_runs("job-1").items
    assert (run.run, run.application_id) == ("run-r", "app-1")
    catalogue.record([lost("lost", at=2_000)])
    assert catalogue.list_runs("job-1").items[0].executions == 1


def test_whether_an_execution_is_stored_asks_by_its_own_run(catalogue: Catalogue) -> None:
    """A withdrawal leaves the graph as the remaining events make it."""
    catalogue.record([lost("lost", at=500), told("run-r", "app-1", "run-a")])
    assert catalogue.has_execution("job-1", 500, 501, run="run-r")
    assert not catalogue.has_execution("job-1", 500, 501, run="run-a")
    assert not catalogue.has_execution("job-1", 501, 900)
    assert catalogue.has_execution("job-1", 0, 900, logical_plan="lp-1")


def test_whether_an_execution_is_stored_asks_by_its_own_time(catalogue: Catalogue) -> None:
    """As its day in the graph does, not by the time from which answers count it."""
    catalogue.record([an_execution("own", at=500, ahead=9_000), an_execution("usual", at=700)])
    assert catalogue.has_execution("job-1", 9_500, 9_501)
    assert not catalogue.has_execution("job-1", 500, 501)
    assert catalogue.has_execution("job-1", 700, 701)


def by_version(catalogue: Catalogue) -> object:
    return catalogue.version_writes([VersionSpan("ds-1", "", 5)], most=9)


def readable_writes(catalogue: Catalogue, span: Span) -> object:
    return catalogue.readable_writes([(span,)], reach=1, most=9, per_plan=1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda c, at: readable_writes(c, Span("ds-1", at + 1, at + 2)),
        lambda c, _: c.events.next_overwrite(an_execution("ex", at=-1)),
        lambda c, _: c.events.next_overwrite(an_execution("ex", at=-1), {"ex"}),
    ],
)
def test_an_overwrite_is_one_seek_before_and_after_many_appends(
    tmp_path: Path, ask: Callable[[Catalogue, int], object]
) -> None:
    engine: sa.Engine = open_database(tmp_path / "headwater.db")
    catalogue, steps = Catalogue(engine), []
    for many in (30, 3_000):
        appends = [an_execution(f"ex-{n}", at=n, mode="append") for n in range(many)]
        catalogue.record([*appends, an_execution(f"end-{many}", at=many)])
        steps.append(instructions(engine, partial(ask, catalogue, many)))
        catalogue.withdraw([an_execution(f"end-{many}", at=many)])
    assert steps[1] < 2 * steps[0] + 5, steps  # counted in tens: few more or less are none
    engine.dispose()


@pytest.mark.parametrize(
    "ask",
    [
        lambda c, span: c.writes([span], most=8, per_plan=0),
        lambda c, span: c.writes([span], most=8, per_plan=9),
        lambda c, span: c.readable_writes(
            [(span._replace(since=span.before),)], reach=1, most=8, per_plan=9
        ),
        lambda c, span: c.readable_writes([(span,)], reach=1, most=8, per_plan=0),
        lambda c, span: c.version_writes(
            [VersionSpan(span.target, "", span.before - 1)], most=8
        ),
        lambda c, _: c.events.first_of_plans(["lp-1", "rare"], 0),
    ],
)  # fmt: skip
def test_more_writes_of_a_table_cost_a_question_no_more_steps(
    tmp_path: Path, ask: Callable[[Catalogue, Span], object]
) -> None:
    """One of its plans wrote three times, long ago."""
    engine: sa.Engine = open_database(tmp_path / "headwater.db")
    catalogue, steps = Catalogue(engine), []
    rare = [an_append(f"rare-{n}", n, logical_plan="rare") for n in range(3)]
    for many in (30, 3_000):
        catalogue.record([*rare, *(an_append(f"ex-{n}", n) for n in range(3, many))])
        steps.append(instructions(engine, partial(ask, catalogue, Span("ds-1", 0, many))))
    assert steps[1] < 2 * steps[0] + 5, steps  # counted in tens: few more or less are none
    engine.dispose()


def an_append(key: str, at: int, **values: Any) -> ExecutionRow:
    return an_execution(key, at=at, mode="append", version=str(at), version_number=at, **values)


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda c: readable_writes(c, Span("ds-1", 5, 9)), "catalogue_executions_by_overwrite"),
        (lambda c: readable_writes(c, Span("ds-1", 5, 9)), "catalogue_executions_by_target"),
        (lambda c: c.last_writes(["ds-1"], 5), "catalogue_executions_by_target"),
        (lambda c: c.writes([Span("ds-1", 0, 9)], most=9, per_plan=1), "by_target"),
        (lambda c: c.writes([Span("ds-1", 0, 9)], most=0, per_plan=1), "by_writer"),
        (lambda c: c.companions([("ds-1", "app-1")]), "catalogue_executions_by_application"),
        (lambda c: c.companions_of_target("ds-1"), "catalogue_executions_by_application"),
        (lambda c: c.companions_of_target("ds-1"), "catalogue_executions_by_unnamed_application"),
        (lambda c: c.companions_of_target("ds-1"), "catalogue_applications_by_run"),
        (lambda c: c.companions([("ds-1", "app-1")]), "catalogue_applications_by_application"),
        (
            lambda c: c.companions([("ds-1", "app-1")]),
            "catalogue_executions_by_unnamed_application",
        ),
        (lambda c: c.list_runs("job-1"), "catalogue_executions_by_job_and_run"),
        (lambda c: c.executions(run="run-a"), "catalogue_executions_by_run"),
        (lambda c: c.executions(run="run-a"), "catalogue_applications_by_application_run"),
        (lambda c: c.has_execution("job-1", 0, 9), "catalogue_executions_by_job"),
        (by_version, "catalogue_executions_by_number"),
        (by_version, "catalogue_executions_by_overwritten_version"),
        (
            lambda c: c.writes_by_version([VersionId("ds-1", "v", "")]),
            "catalogue_executions_by_version",
        ),
        (lambda c: c.bound_reads(["lp-1"]), "catalogue_read_versions_by_logical_plan"),
        (lambda c: c.seen(["ds-1"], 5), "catalogue_schema_uses_by_dataset"),
    ],
)
def test_a_question_about_writes_seeks_in_its_index(
    tmp_path: Path, ask: Callable[[Catalogue], object], index: str
) -> None:
    engine: sa.Engine = open_database(tmp_path / "headwater.db")
    catalogue = Catalogue(engine)
    catalogue.record([an_execution("ex-1", at=1), told("run-r", "app-1", "run-a")])
    with recorded_plans(engine) as lines:
        ask(catalogue)
    assert full_scans(lines, ("catalogue_", "listed", "seen")) == []
    assert any(f"{index} (" in line for line in lines if line.startswith("SEARCH")), lines
    engine.dispose()
