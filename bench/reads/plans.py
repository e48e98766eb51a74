"""Many stored plans, and the cost of the page of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from bench.ingest.workload import Workload, plan_id
from bench.reads.stores import Stores
from graph_model import identity
from graph_model.facts import ExecutionPlanRow, Facts, SupportRow
from graph_model.producers.spline.documents import PLAN_KIND, read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.stores.database import chunks
from graph_model.stores.documents import Receipt, Submission, make_submission
from tests.spline_facts import facts_of_plan

_AT_ONCE: Final = 1_000
_RECEIPT: Final = Receipt(0, "", "bench", "")


def store_plans(stores: Stores, count: int) -> None:
    """``count`` documents of one logical plan, each under an id of its own, as a re-planned query
    sends them: in the journal, with their rows; the plan's own facts once.
    """
    text = Workload().plan(0).decode()
    submissions = _submissions(text, count)
    documents = _facts(text)
    stores.load([documents])
    (row,) = (item for item in documents.rows if isinstance(item, ExecutionPlanRow))
    (support,) = (item for item in documents.rows if isinstance(item, SupportRow))
    for batch in chunks(submissions, _AT_ONCE):
        stores.journal.accept(batch, _RECEIPT, remember=False)
        plans = [_row(row, item) for item in batch if item.subject_key != row.plan_id]
        supports = [support._replace(subject=plan.subject) for plan in plans]
        stores.catalogue.copy([*plans, *supports])


def page(number: int, count: int) -> str:
    """The path of the page of one of ``count`` stored plans."""
    return f"/graph/plans/{plan_id((number * 37 + 11) % count)}"


def _submissions(text: str, count: int) -> Iterator[Submission]:
    for number in range(count):
        body = text.replace(plan_id(0), plan_id(number)).encode()
        yield make_submission(PLAN_KIND, "1.2", plan_id(number), "", body)


def _facts(text: str) -> Facts:
    body = json.loads(text)
    submission = next(_submissions(text, 1))
    document = PlanDocument(read_plan(body), "", submission.content_hash, "1.2")
    return facts_of_plan(document)


def _row(row: ExecutionPlanRow, plan: Submission) -> ExecutionPlanRow:
    key = f"xp_{identity.digest('bench', plan.subject_key)[:32]}"
    return row._replace(
        id=key, subject=plan.subject, plan_id=plan.subject_key, content_hash=plan.content_hash
    )
