"""Data quality assertions of a dataset -> passed or failed, with the failures.

Facets are kept as clients send them, so an assertion may hold anything: unknown shapes are left
out, and a facet without a single assertion gives no verdict.

A check is identified by its dataset, its name and its column, for any job and tool: the newest one
is in force until the same check is made again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from graph_model import identity

#: The facets with assertions, of a dataset or of an input; Great Expectations' action sends the
#: second one.
CHECKED_IN: Final = ("dataQualityAssertions", "greatExpectations_assertions")
MARKS: Final = re.compile("quality|contract|assertions$", re.IGNORECASE)
"""Names of facets about data quality, those of clients included: kept for every query."""
WITHOUT_VERDICT: Final = frozenset({
    "environmentVariables", "errorMessage", "executionParameters", "externalQuery",
    "extractionError", "jobDependencies", "nominalTime", "parent", "parentRun",
    "processing_engine", "tags",
})  # fmt: skip
"""Run facets of the specification that describe the run itself: for a run that only reads, none of
them is a verdict on its inputs.
"""
PASSED: Final = "passed"
FAILED: Final = "failed"
MOST_CHECKS: Final = 2_000
"""Of one facet; from a longer list, failed checks are kept first."""
_MILD: Final = frozenset({"warn", "warning", "info"})
"""Severities of checks that do not fail a dataset."""
_REPORTS_VALUES: Final = "openlineage-dbt"
_MOST_SHOWN: Final = 20
_LONGEST: Final = 500

State = Literal["passed", "failed"]


@dataclass(frozen=True, slots=True, order=True)
class Check:
    """One assertion, by the job that made it at ``at`` (epoch ms). ``column`` "" is the whole
    dataset; other texts are "" where not reported.
    """

    at: int
    job: str
    column: str
    assertion: str
    passed: bool
    severity: str = ""
    name: str = ""
    description: str = ""
    expected: str = ""
    actual: str = ""

    @property
    def key(self) -> str:
        """Equal for repeated checks of one thing in a dataset; the case of the column name does not
        count.
        """
        return identity.digest(self.name or self.assertion, self.column.casefold())

    @property
    def fails(self) -> bool:
        """Whether the check fails its dataset: a failed one of severity ``warn`` only warns."""
        return not self.passed and self.severity.casefold() not in _MILD

    @property
    def warns(self) -> bool:
        return not self.passed and not self.fails

    @property
    def body(self) -> dict[str, Any]:
        """The stored form; ``read_check`` reads it back."""
        return {name: getattr(self, name) for name in _RESULTS}


_RESULTS: Final = tuple(field.name for field in fields(Check) if field.name not in ("at", "job"))


@dataclass(frozen=True, slots=True)
class Quality:
    """``checks`` counts those in force; ``failed`` are the first 20 of ``failures``; ``warnings``
    counts failed checks that do not fail the dataset; ``at`` is the time of the newest check.
    """

    state: State
    checks: int
    failures: int
    warnings: int
    failed: tuple[Check, ...]
    at: int


def read_checks(
    body: Mapping[str, Any], at: int, job: str, producer: str = ""
) -> tuple[Check, ...]:
    """The assertions of a facet, each once; ``producer`` in the form of ``jobs.producer_text``.

    A test that did not run (dbt: its model failed) has no result. dbt's client reports it as not
    successful, without the expected and actual values that it reports for every other test.
    """
    listed = body.get("assertions")
    checks = {
        _read_assertion(item, at, job)
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, Mapping) and isinstance(item.get("success"), bool)
    }
    with_values = any(check.expected or check.actual for check in checks)
    dbt = producer.startswith(_REPORTS_VALUES)
    checked = (
        check
        for check in checks
        if not _is_skipped(check, with_values=with_values or (dbt and check.name != ""))
    )
    return tuple(sorted(checked, key=lambda check: (check.passed, check))[:MOST_CHECKS])


def _is_skipped(check: Check, *, with_values: bool) -> bool:
    """``with_values``: this client reports expected or actual values for tests that ran."""
    return with_values and not check.passed and not (check.expected or check.actual)


def _read_assertion(item: Mapping[str, Any], at: int, job: str) -> Check:
    named = (_text(item.get(key)) for key in ("assertion", "expectationType", "name"))
    return Check(
        at,
        job,
        _text(item.get("column")),
        next(filter(None, named), ""),
        bool(item["success"]),
        *(_text(item.get(key)) for key in ("severity", "name", "description")),
        *(_text(item.get(key)) for key in ("expected", "actual")),
    )


def read_check(body: Mapping[str, Any], at: int, job: str) -> Check:
    """A check from its stored form."""
    return Check(at, job, **{name: body[name] for name in _RESULTS})


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip()[:_LONGEST] if isinstance(value, str | int | float) else ""


def judge(checks: Iterable[Check]) -> Quality | None:
    """One failing check fails the dataset; None without checks."""
    listed = sorted(set(checks))
    if not listed:
        return None
    failed = [check for check in listed if check.fails]
    return Quality(
        FAILED if failed else PASSED,
        len(listed),
        len(failed),
        sum(check.warns for check in listed),
        tuple(failed[:_MOST_SHOWN]),
        max(check.at for check in listed),
    )
