"""A small lake for questions about impact: four jobs, each with a column that matters.

    landing/orders -> load -> lake/orders -> daily -> lake/daily -> report -> lake/report
                                          -> audit -> lake/audit

``daily`` filters by status and sums amount by customer; ``audit`` copies id and status.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from tests.builders import PlanBuilder
from tests.projections import SmallHeadwater, small_headwater, submission

START: Final = 1_700_000_000_000
MINUTE: Final = 60_000
LANDING = "s3://landing/orders"
ORDERS = "s3://lake/orders"
DAILY = "s3://lake/daily"
REPORT = "s3://lake/report"
AUDIT = "s3://lake/audit"
ORDER_COLUMNS = ("id: int", "customer: string", "amount: int", "status: string")


def load(
    columns: Sequence[str] = ORDER_COLUMNS,
    *,
    renamed: dict[str, str] | None = None,
    cast: dict[str, str] | None = None,
    target: str = ORDERS,
    append: bool = False,
    sources: Sequence[str] = (LANDING,),
) -> dict[str, Any]:
    """Copies the columns named; ``renamed`` maps old names to new, ``cast`` names to types."""
    plan = PlanBuilder()
    landing = plan.read(list(sources), *ORDER_COLUMNS)
    output = []
    for text in columns:
        name, _, data_type = text.partition(": ")
        if name in (renamed or {}) or name in (cast or {}):
            called = (renamed or {}).get(name, name)
            data_type = (cast or {}).get(name, data_type)
            value = landing[name]
            if name in (cast or {}):
                value = plan.call("cast", value, type=data_type, of="Cast")
            output.append(plan.column(f"{called}: {data_type}", plan.alias(value, called)))
        else:
            output.append(landing[name])
    plan.write(plan.operation("Project", landing, output=output), target, append=append)
    return named(plan, "load")


def daily() -> dict[str, Any]:
    plan = PlanBuilder()
    orders = plan.read(ORDERS, *ORDER_COLUMNS)
    paid = plan.filter(orders, plan.call("=", orders["status"], plan.literal("paid"), symbol="="))
    total = plan.aggregate_of("sum", paid["amount"])
    plan.write(plan.aggregate(paid, ["customer"], total=total), DAILY)
    return named(plan, "daily")


def report() -> dict[str, Any]:
    plan = PlanBuilder()
    rows = plan.read(DAILY, "customer: string", "total: bigint")
    rounded = plan.call("round", rows["total"])
    plan.write(plan.project(rows, "customer", rounded=rounded), REPORT)
    return named(plan, "report")


def audit() -> dict[str, Any]:
    plan = PlanBuilder()
    orders = plan.read(ORDERS, *ORDER_COLUMNS)
    plan.write(plan.project(orders, "id", "status"), AUDIT, append=True)
    return named(plan, "audit")


def named(plan: PlanBuilder, job: str) -> dict[str, Any]:
    """The document under an id that its job and its content give it."""
    body = plan.document(name=job)
    return {**body, "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{job} {body}"))}


def run_of(body: dict[str, Any], minute: int, application: str = "") -> dict[str, Any]:
    """A run that ended well."""
    return {
        "planId": body["id"],
        "timestamp": START + minute * MINUTE,
        "durationNs": 1_000_000_000,
        "extra": {"appId": application or f"app-{minute}"},
    }


def fill(headwater: SmallHeadwater, bodies: Sequence[dict[str, Any]]) -> None:
    """Each plan with one run, a minute apart, in this order."""
    for minute, body in enumerate(bodies):
        headwater.accept(
            submission(PLAN_KIND, body),
            submission(EVENT_KIND, run_of(body, minute)),
        )
    headwater.project()


def lake() -> SmallHeadwater:
    """All four jobs, each run once."""
    headwater = small_headwater()
    fill(headwater, [load(), daily(), report(), audit()])
    return headwater
