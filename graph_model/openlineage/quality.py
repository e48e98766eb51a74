"""What checks say of a dataset: data quality assertions -> passed or failed, with what failed.

Facets are kept as clients send them, so what an assertion holds may be anything: what cannot be
understood is left out, and a facet without a single assertion says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

#: The facet that carries assertions, of a dataset or of an input.
ASSERTIONS: Final = "dataQualityAssertions"
PASSED: Final = "passed"
FAILED: Final = "failed"
_MOST_SHOWN: Final = 20
_LONGEST: Final = 500

State = Literal["passed", "failed"]


@dataclass(frozen=True, slots=True, order=True)
class Check:
    """One assertion, by the job that made it at ``at`` (epoch ms). ``column`` "" is the whole
    dataset. ``expected`` and ``actual`` are texts, "" where they are not told.
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


@dataclass(frozen=True, slots=True)
class Quality:
    """``checks`` counts those in force; ``failed`` are the first 20 of ``failures``; ``at`` is the
    time of the newest check.
    """

    state: State
    checks: int
    failures: int
    failed: tuple[Check, ...]
    at: int


def read_checks(body: Mapping[str, Any], at: int, job: str) -> tuple[Check, ...]:
    """The assertions of a ``dataQualityAssertions`` facet, each once."""
    listed = body.get("assertions")
    found = {
        Check(
            at,
            job,
            _text(item.get("column")),
            _text(item.get("assertion")) or _text(item.get("name")),
            bool(item["success"]),
            *(_text(item.get(key)) for key in ("severity", "name", "description")),
            *(_text(item.get(key)) for key in ("expected", "actual")),
        )
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, Mapping) and isinstance(item.get("success"), bool)
    }
    return tuple(sorted(found))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip()[:_LONGEST] if isinstance(value, str | int | float) else ""


def judge(checks: Iterable[Check]) -> Quality | None:
    """One failed check fails the dataset; None without any."""
    listed = sorted(set(checks))
    if not listed:
        return None
    failed = [check for check in listed if not check.passed]
    return Quality(
        FAILED if failed else PASSED,
        len(listed),
        len(failed),
        tuple(failed[:_MOST_SHOWN]),
        max(check.at for check in listed),
    )
