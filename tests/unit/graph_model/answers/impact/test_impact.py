"""Changes between two plans of a job, their impact and its report, from values as data."""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from graph_model import identity, labels, naming
from graph_model.answers.impact.changes import ChangeKind, Effect
from graph_model.answers.impact.check import CheckReport, ImpactCheck, compare
from graph_model.answers.impact.outlines import (
    PlanOutline,
    captured_outlines,
    known_outlines,
    outlines,
)
from graph_model.answers.impact.report import (
    Impact,
    ImpactItem,
    ImpactReport,
    NewestRun,
    PathNode,
    Scope,
    canonical_prefix,
)
from graph_model.answers.impact.tables import (
    change_text,
    escape,
    write_check_markdown,
    write_csv,
    write_markdown,
)
from graph_model.errors import InvalidDocument, InvalidInput, NotFound
from graph_model.lineage import Partial
from graph_model.picture.view import JobReference
from graph_model.producers.registry import Translation
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import Submission
from tests import impact_lake as lake
from tests.builders import PlanBuilder
from tests.projections import SmallHeadwater, lineage_event, small_headwater, submission

EVERYTHING = Scope(depth=50, indirect=True, limit=1_000)


def outline_of(body: dict[str, Any]) -> PlanOutline:
    (found,) = captured_outlines([submission(PLAN_KIND, body)], naming.DEFAULT_RULES)
    return found


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [change_text(change) for change in compare(outline_of(before), outline_of(after))]


# --- the comparison ------------------------------------------------------------------------------

ALL = lake.ORDER_COLUMNS
WITHOUT_AMOUNT = tuple(text for text in ALL if not text.startswith("amount"))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (lake.load(), []),
        (lake.load(WITHOUT_AMOUNT), ["column dropped: amount (int)"]),
        (
            lake.load(renamed={"amount": "total"}),
            ["column renamed: amount: amount => total"],
        ),
        (
            lake.load(cast={"amount": "bigint"}),
            [
                "column retyped: amount: int => bigint",
                "column recomputed: amount: amount => CAST(amount AS bigint)",
            ],
        ),
        (
            lake.load(WITHOUT_AMOUNT, renamed={"status": "state"}),
            ["column dropped: amount (int)", "column renamed: status: status => state"],
        ),
        (lake.load(append=True), ["mode changed: s3://lake/orders: overwrite => append"]),
        (
            lake.load(sources=("s3://landing/other",)),
            [
                "column recomputed: id: id => id",
                "column recomputed: customer: customer => customer",
                "column recomputed: amount: amount => amount",
                "column recomputed: status: status => status",
                "input dropped: s3://landing/orders",
                "input added: s3://landing/other",
            ],
        ),
        (
            lake.load(target="s3://lake/orders2"),
            ["target moved: s3://lake/orders: s3://lake/orders => s3://lake/orders2"],
        ),
    ],
)
def test_changes_are_told_in_the_plan_s_own_words(
    after: dict[str, Any], expected: list[str]
) -> None:
    assert changes(lake.load(), after) == expected


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("integer", "int", True),
        ("array<long>", "array<bigint>", True),
        ("long", "int", False),
        ("struct<long:int>", "struct<long:int>", True),
        ("decimal(10,2)", "decimal(12,2)", False),
        ("decimal(10, 2)", "decimal(10,2)", True),
        ("", "int", True),
    ],
)
def test_a_type_is_the_same_however_it_is_spelled(before: str, after: str, same: bool) -> None:
    def writing(data_type: str) -> dict[str, Any]:
        plan = PlanBuilder()
        text = f"x: {data_type}" if data_type else "x"
        plan.write(plan.read("s3://lake/t", text), "s3://lake/u")
        return lake.named(plan, "copy")

    found = compare(outline_of(writing(before)), outline_of(writing(after)))
    assert (ChangeKind.COLUMN_RETYPED not in {change.kind for change in found}) is same


def test_a_new_column_is_added_and_the_way_back_drops_it() -> None:
    assert changes(lake.load(WITHOUT_AMOUNT), lake.load()) == ["column added: amount (int)"]


def two_columns(first: str, second: str) -> dict[str, Any]:
    """Both copy x; only their names and places can tell them apart."""
    plan = PlanBuilder()
    rows = plan.read("s3://lake/t", "x: int")
    plan.write(plan.project(rows, **{first: rows["x"], second: rows["x"]}), "s3://lake/u")
    return lake.named(plan, "copy")


def test_of_two_columns_alike_the_one_in_the_same_place_is_the_renamed_one() -> None:
    assert changes(two_columns("a", "b"), two_columns("c", "d")) == [
        "column renamed: a: a => c",
        "column renamed: b: b => d",
    ]


def test_a_column_of_other_sources_is_no_renamed_one() -> None:
    plan = PlanBuilder()
    landing = plan.read(lake.LANDING, *ALL)
    plan.write(plan.project(landing, "id", "customer", "status", total=landing["id"]), lake.ORDERS)
    after = lake.named(plan, "load")
    assert changes(lake.load(), after) == ["column dropped: amount (int)", "column added: total"]


def filtered(*names: str) -> dict[str, Any]:
    plan = PlanBuilder()
    rows = plan.read(lake.ORDERS, *ALL)
    for name in names:
        rows = plan.filter(rows, plan.call("isnotnull", rows[name]))
    plan.write(plan.project(rows, "id"), "s3://lake/ids")
    return lake.named(plan, "ids")


def test_another_filter_changes_the_rows_and_breaks_nobody() -> None:
    found = compare(outline_of(filtered("status")), outline_of(filtered("amount", "status")))
    assert [change_text(change) for change in found] == [
        "rows changed: filtered by: status IS NOT NULL => amount IS NOT NULL, status IS NOT NULL"
    ]
    assert {change.effect for change in found} == {Effect.NONE}


def joined(
    *,
    least: int = 1,
    kind: str = "INNER",
    swapped: bool = False,
    first: int = 0,
    limit: bool = False,
) -> dict[str, Any]:
    """Orders of known customers; ``first`` shifts the ids of the document."""
    plan = PlanBuilder(first)
    orders = plan.read(lake.ORDERS, *ALL)
    people = plan.read("s3://lake/customers", "name: string")
    same = plan.call("=", orders["customer"], people["name"], symbol="=")
    rows = plan.join(orders, people, same, kind)
    large = plan.call(">", rows["amount"], plan.literal(least), symbol=">")
    paid = plan.call("=", rows["status"], plan.literal("paid"), symbol="=")
    both = (paid, large) if swapped else (large, paid)
    kept = plan.filter(rows, plan.call("and", *both, symbol="&&"))
    if limit:
        kept = plan.operation("GlobalLimit", kept, output=kept.output)
    plan.write(plan.project(kept, "id"), "s3://lake/ids")
    return lake.named(plan, "ids")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (
            joined(least=5000),
            [
                "rows changed: filtered by: amount > 1, status = 'paid' => "
                "amount > 5000, status = 'paid'"
            ],
        ),
        (joined(kind="LEFT OUTER"), ["rows changed: join types: INNER => LEFTOUTER"]),
        (joined(first=100), []),
        (joined(kind="Inner"), ["plan changed"]),
        (joined(swapped=True), ["plan changed"]),
        (joined(limit=True), ["plan changed"]),
    ],
)
def test_conditions_and_join_types_are_compared_and_spellings_are_not(
    after: dict[str, Any], expected: list[str]
) -> None:
    found = changes(joined(), after)
    assert [text.partition(": fingerprint")[0] for text in found] == expected


def test_only_plans_with_one_fingerprint_are_as_before() -> None:
    (found,) = compare(outline_of(lake.load()), outline_of(lake.load(tuple(reversed(ALL)))))
    assert (found.kind, found.effect) == (ChangeKind.PLAN_CHANGED, Effect.NONE)
    assert found.before != found.after


def test_columns_alone_are_compared_where_a_producer_reports_no_conditions() -> None:
    known, captured = outline_of(joined()), outline_of(joined(least=5000))
    silent = frozenset(replace(one, expression="") for one in known.influences)
    other = replace(known, influences=silent, joins=None)
    assert {change.kind for change in compare(other, captured)} == {ChangeKind.PLAN_CHANGED}


def test_a_plan_that_does_not_name_its_output_is_told_so() -> None:
    plan = PlanBuilder()
    plan.write(plan.read(lake.LANDING), lake.ORDERS)
    assert changes(lake.load(), lake.named(plan, "load"))[-1] == "schema unknown: s3://lake/orders"


# --- outlines ------------------------------------------------------------------------------------


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    made = lake.lake()
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize("body", [lake.load(), lake.daily(), lake.report(), lake.audit()])
def test_a_plan_reads_the_same_from_its_document_and_from_the_graph(
    headwater: SmallHeadwater, body: dict[str, Any]
) -> None:
    captured = outline_of(body)
    (known,) = known_outlines((captured.logical_plan,), headwater.graph, headwater.catalogue)
    assert known == captured


def test_joins_read_the_same_from_the_graph() -> None:
    captured = outline_of(joined(kind="LEFT OUTER"))
    made = small_headwater()
    try:
        lake.fill(made, [joined(kind="LEFT OUTER")])
        (known,) = known_outlines((captured.logical_plan,), made.graph, made.catalogue)
        assert known == captured
        assert known.joins == ("LEFTOUTER",)
        assert check(made, joined(kind="LEFT OUTER")).plans[0].changes == ()
    finally:
        made.close()


def test_unknown_plans_have_no_outline(headwater: SmallHeadwater) -> None:
    assert known_outlines((), headwater.graph, headwater.catalogue) == ()
    assert known_outlines(("lp_" + "0" * 32,), headwater.graph, headwater.catalogue) == ()


def test_a_document_that_cannot_be_translated_is_refused_by_its_id() -> None:
    body = {**lake.load(), "operations": {"reads": [], "other": []}}
    with pytest.raises(InvalidDocument, match=body["id"]):
        captured_outlines([submission(PLAN_KIND, body)], naming.DEFAULT_RULES)


def test_events_say_nothing_of_a_plan() -> None:
    body = lake.run_of(lake.load(), 1)
    assert captured_outlines([submission(EVENT_KIND, body)], naming.DEFAULT_RULES) == ()


def test_translating_captured_documents_gives_the_facts_that_a_projection_gives() -> None:
    (stored,) = small_documents()
    facts = Translation(naming.DEFAULT_RULES).project_all([stored]).facts
    assert outlines(facts) == (outline_of(lake.load()),)


def small_documents() -> list[Any]:
    made = small_headwater()
    try:
        made.accept(submission(PLAN_KIND, lake.load()))
        return list(made.journal.documents_of(lake.load()["id"]))
    finally:
        made.close()


# --- the impact ----------------------------------------------------------------------------------


def check(
    headwater: SmallHeadwater, *bodies: dict[str, Any], hidden: frozenset[str] = frozenset()
) -> CheckReport:
    sources = replace(headwater.sources, hidden=hidden)
    captured = captured_outlines(
        [submission(PLAN_KIND, body) for body in bodies], naming.DEFAULT_RULES
    )
    return ImpactCheck(sources).of_plans(captured, EVERYTHING)


def verdicts(report: CheckReport | ImpactReport) -> dict[str, tuple[str | None, str | None]]:
    impact = report.impact if isinstance(report, CheckReport) else report
    return {
        f"{item.kind} {item.path[-1].label}": (item.verdict, item.reason) for item in impact.items
    }


def test_a_plan_as_it_runs_now_breaks_nothing(headwater: SmallHeadwater) -> None:
    report = check(headwater, lake.load())
    assert (report.effect, report.impact.items, report.missing) == (Effect.NONE, (), ())
    assert [plan.changes for plan in report.plans] == [()]


def test_a_job_that_aggregates_a_dropped_column_breaks_with_all_behind_it(
    headwater: SmallHeadwater,
) -> None:
    report = check(headwater, lake.load(WITHOUT_AMOUNT))
    assert report.effect == Effect.BREAKS
    assert verdicts(report) == {
        "column daily.total": ("breaks", "daily aggregates orders.amount, which is dropped"),
        "job daily": ("breaks", "daily aggregates orders.amount, which is dropped"),
        "column report.rounded": ("breaks", "report computes with daily.total, which breaks"),
        "job report": ("breaks", "report computes with daily.total, which breaks"),
    }


def test_a_job_that_only_filters_by_a_renamed_column_breaks_too(headwater: SmallHeadwater) -> None:
    found = verdicts(check(headwater, lake.load(renamed={"status": "state"})))
    assert found["job daily"] == (
        "breaks", "daily filters by orders.status, which is renamed to state",
    )  # fmt: skip
    assert found["column daily.customer"][0] == "breaks"
    assert found["column audit.status"] == (
        "breaks", "audit copies orders.status, which is renamed to state",
    )  # fmt: skip
    assert "column audit.id" not in found


def test_a_job_that_uses_a_column_of_another_type_may_break(headwater: SmallHeadwater) -> None:
    report = check(headwater, lake.load(cast={"id": "bigint"}))
    assert report.effect == Effect.MAY_BREAK
    reason = "audit copies orders.id, which changes from int to bigint"
    assert verdicts(report) == {
        "column audit.id": ("may-break", reason),
        "job audit": ("may-break", reason),
    }


def test_of_two_verdicts_the_worse_one_is_told(headwater: SmallHeadwater) -> None:
    report = check(headwater, lake.load(cast={"id": "bigint"}, renamed={"status": "state"}))
    assert report.effect == Effect.BREAKS
    assert verdicts(report)["job audit"][0] == "breaks"
    assert verdicts(report)["column audit.id"][0] == "may-break"
    assert [item.verdict for item in report.impact.items] == sorted(
        (str(item.verdict) for item in report.impact.items), key=["breaks", "may-break"].index
    )


def test_a_dropped_column_that_nobody_uses_breaks_nothing(headwater: SmallHeadwater) -> None:
    plan = PlanBuilder()
    rows = plan.read(lake.DAILY, "customer: string", "total: bigint")
    plan.write(plan.project(rows, "customer"), lake.REPORT)
    report = check(headwater, lake.named(plan, "report"))
    assert [change.kind for change in report.plans[0].changes] == [ChangeKind.COLUMN_DROPPED]
    assert (report.effect, report.impact.items) == (Effect.NONE, ())


def test_a_reader_whose_only_run_failed_does_not_count() -> None:
    failed = {**lake.run_of(lake.audit(), 9), "error": "out of memory"}
    made = small_headwater()
    try:
        lake.fill(made, [lake.load()])
        made.accept(submission(PLAN_KIND, lake.audit()), submission(EVENT_KIND, failed))
        made.project()
        assert check(made, lake.load(WITHOUT_AMOUNT, renamed={"id": "key"})).impact.items == ()
        made.accept(submission(EVENT_KIND, lake.run_of(lake.audit(), 10)))
        made.project()
        found = verdicts(check(made, lake.load(WITHOUT_AMOUNT, renamed={"id": "key"})))
        assert found["job audit"][0] == "breaks"
    finally:
        made.close()


def test_readers_of_a_target_that_moved_may_break(headwater: SmallHeadwater) -> None:
    found = verdicts(check(headwater, lake.load(target="s3://lake/orders2")))
    reason = "audit reads orders, which is written to s3://lake/orders2 instead"
    assert found["dataset audit"] == ("may-break", reason)
    assert found["job report"] == ("may-break", "report reads daily, which may break")


def test_a_job_that_is_not_known_has_nothing_to_break(headwater: SmallHeadwater) -> None:
    report = check(headwater, {**lake.load(WITHOUT_AMOUNT), "name": "newcomer"})
    assert [(plan.job, plan.plan) for plan in report.plans] == [("default/newcomer", None)]
    assert report.effect == Effect.NONE


def test_an_output_of_the_last_run_that_no_captured_plan_writes_is_missing() -> None:
    made = small_headwater()
    try:
        other = {**lake.audit(), "name": "load"}
        made.accept(
            *(submission(PLAN_KIND, body) for body in (lake.load(), other)),
            *(
                submission(EVENT_KIND, lake.run_of(body, minute, "app-1"))
                for minute, body in enumerate((lake.load(), other))
            ),
        )
        made.project()
        assert check(made, lake.load()).missing == (lake.AUDIT,)
        both = check(made, other, lake.load(WITHOUT_AMOUNT))
        assert both.missing == ()
        assert {plan.target: len(plan.changes) for plan in both.plans} == {
            lake.AUDIT: 0, lake.ORDERS: 1,
        }  # fmt: skip
    finally:
        made.close()


def elsewhere(**arguments: Any) -> dict[str, Any]:
    """``load`` where a check runs it."""
    return lake.load(target="file:/tmp/check/orders", **arguments)


def test_a_job_of_which_no_place_is_met_is_named(headwater: SmallHeadwater) -> None:
    lost = check(headwater, elsewhere(sources=("file:/tmp/check/landing",)))
    assert lost.unmet == ("default/load",)
    assert check(headwater, elsewhere()).unmet == ()  # one input in common: the target has moved
    assert check(headwater, lake.load()).unmet == ()
    assert check(headwater, {**elsewhere(), "name": "newcomer"}).unmet == ()
    hidden = frozenset({identity.dataset_id("", lake.ORDERS)})
    assert check(headwater, lake.load(), hidden=hidden).unmet == ()


def test_a_plan_is_held_against_the_newest_one_and_not_against_an_older_version() -> None:
    made = small_headwater()
    try:
        lake.fill(made, [lake.load(WITHOUT_AMOUNT), lake.load(), lake.daily()])
        assert check(made, lake.load()).effect == Effect.NONE
        assert check(made, lake.load(WITHOUT_AMOUNT)).effect == Effect.BREAKS
        before = replace(EVERYTHING, at=lake.START)
        captured = [outline_of(lake.load(WITHOUT_AMOUNT))]
        then = ImpactCheck(made.sources).of_plans(captured, before)
        assert then.plans[0].changes == ()
    finally:
        made.close()


def test_a_hidden_plan_is_as_unknown(headwater: SmallHeadwater) -> None:
    hidden = frozenset({identity.dataset_id("", lake.ORDERS)})
    report = check(headwater, lake.load(WITHOUT_AMOUNT), hidden=hidden)
    assert [plan.plan for plan in report.plans] == [None]


def of_column(headwater: SmallHeadwater, name: str, kind: ChangeKind) -> ImpactReport:
    column = identity.column_id(identity.dataset_id("", lake.ORDERS), name)
    return ImpactCheck(headwater.sources).of_column(column, kind, EVERYTHING)


def test_a_column_asked_about_alone_breaks_the_same(headwater: SmallHeadwater) -> None:
    alone = of_column(headwater, "amount", ChangeKind.COLUMN_DROPPED)
    assert verdicts(alone) == verdicts(check(headwater, lake.load(WITHOUT_AMOUNT)))
    retyped = of_column(headwater, "id", ChangeKind.COLUMN_RETYPED)
    assert verdicts(retyped)["job audit"] == (
        "may-break", "audit copies orders.id, which is retyped",
    )  # fmt: skip


def reading_run(
    job: str,
    *sources: str,
    target: str = "",
    columns: dict[str, str] | None = None,
    text: str = "",
) -> Submission:
    """A run that a client of OpenLineage reports, at minute 20; without column lineage unless
    ``columns`` gives the source of each (of the first dataset), or the ``text`` of its query does.
    """
    names = [{"namespace": "s3://lake", "name": one.removeprefix("s3://lake/")} for one in sources]
    fields = {
        name: {"inputFields": [{**names[0], "field": source}]}
        for name, source in (columns or {}).items()
    }
    facets = {"columnLineage": {"fields": fields}} if fields else {}
    output = {"namespace": "s3://lake", "name": target.removeprefix("s3://lake/")}
    sql = {"query": text, "dialect": "spark"}
    at = datetime.fromtimestamp((lake.START + 20 * lake.MINUTE) / 1_000, UTC)
    return lineage_event(
        {
            "eventType": "COMPLETE",
            "eventTime": at.isoformat(),
            "producer": "a dashboard",
            "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_URL, job))},
            "job": {"namespace": "default", "name": job, "facets": {"sql": sql} if text else {}},
            "inputs": names,
            "outputs": [{**output, "facets": facets}] if target else [],
        }
    )


def test_a_reader_without_column_lineage_may_read_every_column_of_its_table(
    headwater: SmallHeadwater,
) -> None:
    headwater.accept(
        reading_run("board", lake.ORDERS),
        reading_run("far-board", lake.DAILY),
        reading_run("copy", lake.ORDERS, target="s3://lake/copy"),
        reading_run("other-column", lake.ORDERS, target="s3://lake/ids", columns={"id": "id"}),
        reading_run("metadata", f"{lake.ORDERS}.snapshots"),
    )
    headwater.project()
    found = verdicts(of_column(headwater, "amount", ChangeKind.COLUMN_DROPPED))
    reason = "may read orders.amount, which is dropped"
    assert found["job board"] == ("may-break", f"board {reason}")
    assert found["job copy"] == ("may-break", f"copy {reason}")
    assert found["job far-board"] == (
        "may-break", "far-board may read daily.total, which breaks",
    )  # fmt: skip
    assert found["job daily"][0] == "breaks"
    assert "job other-column" not in found
    assert "job metadata" not in found  # no row of the table
    assert "job audit" not in found  # its plan names its columns


def test_a_reader_with_a_text_reads_the_columns_that_the_text_names(
    headwater: SmallHeadwater,
) -> None:
    texts = {
        "shown": "SELECT amount FROM orders",
        "summed": "SELECT sum(amount) FROM orders WHERE status = 'paid'",
        "deciding": "SELECT id FROM orders WHERE amount > 0",
        "other": "SELECT id FROM orders",
        "far": "SELECT total FROM daily ORDER BY customer",
        "unclear": "SELECT * FROM orders",
    }
    for job, text in texts.items():
        source = lake.DAILY if job == "far" else lake.ORDERS
        headwater.accept(reading_run(job, source, text=text))
    headwater.accept(reading_run("both", lake.ORDERS, lake.DAILY, text="SELECT id FROM orders"))
    headwater.project()
    assert {
        name: (effect, reason.split(",")[0])
        for name, (effect, reason) in verdicts(
            of_column(headwater, "amount", ChangeKind.COLUMN_DROPPED)
        ).items()
        if name.removeprefix("job ") in {*texts, "both"}
    } == {
        "job shown": ("breaks", "shown reads orders.amount"),
        "job summed": ("breaks", "summed aggregates orders.amount"),
        "job deciding": ("breaks", "deciding filters by orders.amount"),
        "job far": ("breaks", "far reads daily.total"),
        "job unclear": ("may-break", "unclear may read orders.amount"),
        "job both": ("may-break", "both may read orders.amount"),
    }
    direct = replace(EVERYTHING, indirect=False)
    amount = identity.column_id(identity.dataset_id("", lake.ORDERS), "amount")
    listed = {
        item.label: item for item in Impact(headwater.sources).of_columns((amount,), direct).items
    }
    assert "deciding" not in listed
    assert (listed["summed"].use, listed["summed"].how) == (labels.DIRECT, labels.AGGREGATION)


def test_a_column_that_nobody_but_a_dashboard_may_read_may_break_something(
    headwater: SmallHeadwater,
) -> None:
    headwater.accept(reading_run("board", lake.REPORT))
    headwater.project()
    column = identity.column_id(identity.dataset_id("", lake.REPORT), "rounded")
    report = ImpactCheck(headwater.sources).of_column(column, ChangeKind.COLUMN_DROPPED, EVERYTHING)
    assert (report.verdict, [item.how for item in report.items]) == ("may-break", [labels.MAY_READ])
    nearer = replace(EVERYTHING, depth=0)
    assert not Impact(headwater.sources).of_columns((column,), nearer).items


def test_a_field_goes_with_the_struct_that_holds_it() -> None:
    plan = PlanBuilder()
    address = plan.struct_type(city="string", street="string")
    people = plan.read("s3://lake/people", "id: int", f"address: {address}")
    city = plan.call(
        "city", people["address"], of="GetStructField", params={"ordinal": 0, "name": "city"}
    )
    plan.write(plan.project(people, "id", city=city), "s3://lake/cities")
    made = small_headwater()
    try:
        lake.fill(made, [lake.named(plan, "cities")])
        column = identity.column_id(identity.dataset_id("", "s3://lake/people"), "address")
        report = ImpactCheck(made.sources).of_column(column, ChangeKind.COLUMN_DROPPED, EVERYTHING)
        assert verdicts(report)["column cities.city"][0] == "breaks"
    finally:
        made.close()


def people(**fields: str) -> dict[str, Any]:
    """Copies a table whose struct has these fields."""
    plan = PlanBuilder()
    rows = plan.read("s3://landing/people", "id: int", f"address: {plan.struct_type(**fields)}")
    plan.write(rows, "s3://lake/people")
    return lake.named(plan, "people")


def reader_of(field: str, place: int) -> dict[str, Any]:
    plan = PlanBuilder()
    address = plan.struct_type(city="string", street="string")
    rows = plan.read("s3://lake/people", "id: int", f"address: {address}")
    params = {"ordinal": place, "name": field}
    picked = plan.call(field, rows["address"], of="GetStructField", params=params)
    plan.write(plan.project(rows, **{field: picked}), f"s3://lake/{field}")
    return lake.named(plan, field)


def test_a_field_that_a_struct_loses_breaks_its_readers_and_no_others() -> None:
    made = small_headwater()
    try:
        whole = people(city="string", street="string")
        lake.fill(made, [whole, reader_of("city", 0), reader_of("street", 1)])
        report = check(made, people(street="string"))
        assert report.effect == Effect.BREAKS
        assert verdicts(report) == {
            "column city.city": ("breaks", "city copies people.address.city, which is dropped"),
            "job city": ("breaks", "city copies people.address.city, which is dropped"),
        }
        (plan,) = report.plans
        assert [(change.kind, change.subject) for change in plan.changes] == [
            (ChangeKind.COLUMN_DROPPED, "address.city"),
            (ChangeKind.COLUMN_RETYPED, "address"),
        ]
    finally:
        made.close()


def test_only_columns_are_dropped(headwater: SmallHeadwater) -> None:
    with pytest.raises(InvalidInput, match="expected a column"):
        ImpactCheck(headwater.sources).of_column(
            identity.dataset_id("", lake.ORDERS), ChangeKind.COLUMN_DROPPED, EVERYTHING
        )


# --- the report ----------------------------------------------------------------------------------


def test_a_report_tells_depth_path_readers_and_last_run(headwater: SmallHeadwater) -> None:
    impact = Impact(headwater.sources)
    report = impact.of_node(identity.dataset_id("", lake.ORDERS), EVERYTHING)
    assert [(item.kind, item.label, item.depth) for item in report.items] == [
        ("dataset", "audit", 1), ("dataset", "daily", 1), ("job", "audit", 1), ("job", "daily", 1),
        ("dataset", "report", 2), ("job", "report", 2),
    ]  # fmt: skip
    found = {(item.kind, item.label): item for item in report.items}
    daily = found["dataset", "daily"]
    assert [node.label for node in daily.path] == ["orders", "daily", "daily"]
    assert [job.name for job in daily.readers] == ["report"]
    assert daily.last_run is not None
    assert (daily.last_run.at, daily.last_run.state) == ("2023-11-14T22:14:20.000Z", "completed")
    assert found["dataset", "audit"].readers == ()


def test_depth_and_limit_bound_a_report(headwater: SmallHeadwater) -> None:
    impact = Impact(headwater.sources)
    node = identity.dataset_id("", lake.ORDERS)
    near = impact.of_node(node, replace(EVERYTHING, depth=1))
    assert {item.depth for item in near.items} == {1}
    cut = impact.of_node(node, replace(EVERYTHING, limit=3))
    assert cut.partial == Partial("nodes", 3)
    assert len(cut.items) <= 3


def test_a_job_s_own_columns_lie_a_step_away_and_cost_no_table_its_row(
    headwater: SmallHeadwater,
) -> None:
    impact = Impact(headwater.sources)
    job = identity.job_id("default", "load")
    tables = impact.of_node(job, EVERYTHING)
    both = impact.of_node(job, replace(EVERYTHING, columns=True))
    assert [item for item in both.items if item.kind != "column"] == [*tables.items]
    own = [item for item in both.items if item.kind == "column" and item.depth == 1]
    assert [item.label for item in own] == ["amount", "customer", "id", "status"]
    assert [node.label for node in own[0].path] == ["load", "orders.amount"]
    assert both.depth_reached == tables.depth_reached


def test_a_prefix_finds_its_datasets_under_any_spelling(headwater: SmallHeadwater) -> None:
    impact = Impact(headwater.sources)
    report = impact.of_prefix("S3A://landing/", EVERYTHING)
    assert [start.label for start in report.starts] == ["orders"]
    assert {item.label for item in report.items if item.kind == "dataset"} == {
        "orders", "daily", "audit", "report",
    }  # fmt: skip
    assert impact.of_prefix("s3:%2F%2Flanding", EVERYTHING) == report
    with pytest.raises(NotFound):
        impact.of_prefix("s3://nowhere/", EVERYTHING)


@pytest.mark.parametrize(
    ("asked", "canonical"),
    [
        ("s3a://lake/raw/", "s3://lake/raw/"),
        ("S3N://lake", "s3://lake"),
        ("file:/data", "file:/data"),
        ("spark_catalog/hr.", "spark_catalog/hr."),
    ],
)
def test_a_prefix_is_spelled_as_uris_begin(asked: str, canonical: str) -> None:
    assert canonical_prefix(asked, naming.DEFAULT_RULES) == canonical


# --- formats -------------------------------------------------------------------------------------


def an_item(**changes: Any) -> ImpactItem:
    path = (PathNode("dataset", "ds_1", "a"), PathNode("job", "job_1", "j"))
    item = ImpactItem(
        kind="dataset", id="ds_2", label="b", uri="s3://lake/b", namespace=None, depth=1,
        path=(*path, PathNode("dataset", "ds_2", "b")),
        jobs=(JobReference("job_1", "default", "j"),),
        readers=tuple(JobReference(f"job_{n}", "default", f"r{n}") for n in range(5)),
        use=None, how=None, expression=None,
        last_run=NewestRun("run_1", "job_1", "2026-03-01T08:15:00.000Z", "completed"),
        owners=("Ann",), layer="lake", classifications=("PII",),
    )  # fmt: skip
    return replace(item, **changes)


def a_report(*items: ImpactItem, **changes: Any) -> ImpactReport:
    starts = (PathNode("dataset", "ds_1", "a"),)
    report = ImpactReport(starts, items, "2026-03-01T08:15:00.000Z", 50, 1, False, None, 0)
    return replace(report, **changes)


FORMULAS = ["=1+1", "+1", "-1", "@sum", "\t=1", "\n=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20a"]
HOSTILE = [*FORMULAS, "a,b", 'say "hi"', "two\r\nlines", "ünï", ""]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_spreadsheet_reads_back_every_text_and_takes_none_for_a_formula(text: str) -> None:
    written = write_csv(a_report(an_item(label=text)))
    header, row = csv.reader(io.StringIO(written, newline=""))
    cell = row[header.index("label")]
    assert cell.removeprefix("'") == text
    assert cell.startswith("'") == (text in FORMULAS)
    assert written.endswith("\r\n")


def test_a_table_of_nothing_is_its_header() -> None:
    assert write_csv(a_report()).count("\r\n") == 1
    assert write_markdown(a_report()) == (
        "### Downstream of a\n\n0 things, as of 2026-03-01T08:15:00.000Z, 1 step deep.\n"
    )


def test_markdown_names_the_missing_parts() -> None:
    text = write_markdown(
        a_report(an_item(), partial=Partial("nodes", 1000), folded=True, hidden=2)
    )
    assert "1 thing, as of" in text
    assert "Not whole: nodes (limit 1,000)." in text
    assert "Repeated runs were taken together" in text
    assert "2 hidden." in text
    assert "default/r0, default/r1, default/r2 and 2 more" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("<img src=x>", r"\<img src=x\>"),
        ("two\nlines\u2028more", "two lines more"),
        ("[x](javascript:1)", r"\[x\](javascript:1)"),
        ("*b* _i_ `c` ~~d~~", r"\*b\* \_i\_ \`c\` \~\~d\~\~"),
        ("ask @everyone", "ask @&#8203;everyone"),
        ("a\\b&amp;", r"a\\b\&amp;"),
    ],
)
def test_markdown_shows_hostile_names_as_text(text: str, shown: str) -> None:
    assert escape(text) == shown
    rows = [
        line for line in write_markdown(a_report(an_item(uri=text))).splitlines() if shown in line
    ]
    assert len(rows) == 1


def test_a_check_is_told_in_markdown(headwater: SmallHeadwater) -> None:
    text = write_check_markdown(check(headwater, lake.load(WITHOUT_AMOUNT)))
    assert text.startswith("### Something breaks\n")
    assert "**default/load** writes s3://lake/orders:" in text
    assert "- column dropped: amount (int)" in text
    assert "| breaks | column | s3://lake/daily#total | 1 |" in text
    assert json.dumps(text)
