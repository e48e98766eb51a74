"""A table of everything downstream as CSV and as Markdown: pure text.

CSV is RFC 4180 (a header line, CRLF, quotes doubled). A cell that a spreadsheet would take for a
formula gets an apostrophe in front, as spreadsheets themselves mark text: ``=1+1`` => ``'=1+1``.

``TEXT_FORMS`` lists the forms; the routes, their schemas and the console follow from it. The
console reads its names: this module imports what it writes for its types alone.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graph_model import labels
from graph_model.answers.impact.changes import Change, Effect
from graph_model.errors import count_of

if TYPE_CHECKING:
    from graph_model.answers.impact.check import CheckReport, PlanCheck
    from graph_model.answers.impact.report import ImpactItem, ImpactReport, PathNode
    from graph_model.lineage import Partial
    from graph_model.picture.view import JobReference

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Beginnings of a formula; spreadsheets take the full-width signs of East Asian keyboards, too."""
_MARKUP: Final = re.compile(r"([\\`*_\[\]|~<>&])")
_MENTION: Final = re.compile(r"@(?=\w)")
_BLANKS: Final = re.compile(r"\s+")
_BREAK: Final = re.compile(r"[\r\n\v\f\x85\u2028\u2029]")
_MORE_JOBS: Final = 3

FLOW_WORDS: Final = {"seen": "", "next": "at its next run", "past": "by a former plan"}
"""What is said of a row beside its path, by ``ImpactItem.flow``."""

Cell = Callable[["ImpactItem"], str]


def _named(jobs: Iterable[JobReference]) -> str:
    return "; ".join(f"{job.namespace}/{job.name}" for job in jobs)


def path_text(path: Sequence[PathNode]) -> str:
    """``orders -> (daily_orders) -> daily``: jobs in brackets."""
    return " -> ".join(
        f"({node.label})" if node.kind == labels.JOB else node.label for node in path
    )


_CSV: Final[tuple[tuple[str, Cell], ...]] = (
    ("kind", lambda item: item.kind),
    ("id", lambda item: item.id),
    ("label", lambda item: item.label),
    ("uri", lambda item: item.uri or ""),
    ("namespace", lambda item: item.namespace or ""),
    ("depth", lambda item: str(item.depth)),
    ("path", lambda item: path_text(item.path)),
    ("jobs", lambda item: _named(item.jobs)),
    ("readers", lambda item: _named(item.readers)),
    ("use", lambda item: item.use or ""),
    ("how", lambda item: item.how or ""),
    ("expression", lambda item: item.expression or ""),
    ("last_run_at", lambda item: item.last_run.at if item.last_run else ""),
    ("last_run_state", lambda item: item.last_run.state if item.last_run else ""),
    ("last_run_id", lambda item: item.last_run.id if item.last_run else ""),
    ("owners", lambda item: "; ".join(item.owners)),
    ("layer", lambda item: item.layer or ""),
    ("classifications", lambda item: "; ".join(item.classifications)),
    ("verdict", lambda item: item.verdict or ""),
    ("reason", lambda item: item.reason or ""),
    ("declared", lambda item: "true" if item.declared else ""),
    ("flow", lambda item: item.flow),
    ("reads", lambda item: item.reads or ""),
)
_MARKDOWN: Final[tuple[tuple[str, Cell], ...]] = (
    ("Kind", lambda item: item.kind),
    ("Name", lambda item: _full_name(item)),
    ("Depth", lambda item: str(item.depth)),
    ("Path", lambda item: path_text(item.path) + _marks(item)),
    ("Read by", lambda item: _some(item.readers)),
    ("Last run", lambda item: _run(item)),
    ("Owners", lambda item: ", ".join(item.owners)),
    ("Layer", lambda item: item.layer or ""),
    ("Classifications", lambda item: ", ".join(item.classifications)),
)
_JUDGED: Final[tuple[tuple[str, Cell], ...]] = (
    ("Verdict", lambda item: item.verdict or ""),
    ("Kind", lambda item: item.kind),
    ("Name", lambda item: _full_name(item)),
    ("Depth", lambda item: str(item.depth)),
    ("Why", lambda item: (item.reason or "") + _marks(item)),
    ("Last run", lambda item: _run(item)),
    ("Owners", lambda item: ", ".join(item.owners)),
)


def write_csv(report: ImpactReport) -> str:
    """A header line and one line for each item; no line for the properties of the report."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([name for name, _ in _CSV])
    writer.writerows([_plain(cell(item)) for _, cell in _CSV] for item in report.items)
    return out.getvalue()


def write_markdown(report: ImpactReport) -> str:
    """A heading, one line with the properties of the report, and a table."""
    starts = ", ".join(node.label for node in report.starts[:_MORE_JOBS])
    more = len(report.starts) - _MORE_JOBS
    lines = [
        f"### Downstream of {escape(starts)}" + (f" and {more} more" if more > 0 else ""),
        "",
        escape(summary_sentence(report)),
        "",
    ]
    lines += _items_table(report)
    return "\n".join(lines).rstrip("\n") + "\n"


def _items_table(report: ImpactReport) -> list[str]:
    """The items as a table, with verdicts where there are any; no lines without items."""
    if not report.items:
        return []
    columns = _JUDGED if report.items[0].verdict else _MARKDOWN
    rows = [[cell(item) for _, cell in columns] for item in report.items]
    return write_table([name for name, _ in columns], rows)


def write_check_markdown(report: CheckReport) -> str:
    """The changes in the captured plans, and their impact."""
    uncertain = report.unmet and report.effect == Effect.NONE
    lines = [f"### {_UNCERTAIN if uncertain else _VERDICTS[report.effect]}", ""]
    lines += [line for job in report.unmet for line in (_unmet_line(job), "")]
    for plan in report.plans:
        lines += [*_plan_lines(plan), ""]
    if report.missing:
        lines += [f"Written by the last run, not captured: {escape(', '.join(report.missing))}", ""]
    lines += [*_items_table(report.impact), ""]
    lines.append(escape(summary_sentence(report.impact)))
    return "\n".join(lines) + "\n"


_VERDICTS: Final = {
    Effect.BREAKS: "Something breaks",
    Effect.MAY_BREAK: "Something may break",
    Effect.NONE: "Nothing breaks",
}


_UNCERTAIN: Final = "Uncertain: nothing to compare with"


def _unmet_line(job: str) -> str:
    return (
        f"No captured plan writes an output of **{escape(job)}**: places of the check are mapped "
        "to production with `--map FROM=TO`."
    )


def _plan_lines(plan: PlanCheck) -> list[str]:
    head = f"**{escape(plan.job)}** writes {escape(plan.target)}: "
    if plan.plan is None:
        return [f"{head}new, nothing to compare with"]
    if not plan.changes:
        return [f"{head}as before"]
    return [head, *(f"- {escape(change_text(change))}" for change in plan.changes)]


def change_text(change: Change) -> str:
    """``column dropped: amount (int)``; ``column retyped: id: int => bigint``."""
    text = f"{change.kind.value.replace('-', ' ')}: {change.subject}"
    if change.before is None and change.after is None:
        return text
    if change.before is None or change.after is None:
        return f"{text} ({change.before or change.after})"
    return f"{text}: {change.before or '(none)'} => {change.after or '(none)'}"


def write_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    return [
        f"| {' | '.join(names)} |",
        f"|{' --- |' * len(names)}",
        *(f"| {' | '.join(map(escape, row))} |" for row in rows),
    ]


def summary_sentence(report: ImpactReport) -> str:
    """``3 things, as of 2026-03-01T08:15:00.000Z, 2 steps deep.``, and the omissions, if any."""
    parts = [count_of(len(report.items), "thing")]
    if report.as_of:
        parts.append(f"as of {report.as_of}")
    parts.append(f"{count_of(report.depth_reached, 'step')} deep")
    text = f"{', '.join(parts)}."
    if report.partial:
        text += f" Not whole: {partial_text(report.partial)}."
    if report.folded:
        text += " Repeated runs were taken together: there may be a little more than is exact."
    if report.hidden:
        text += f" {report.hidden:,} hidden."
    return text


def partial_text(partial: Partial) -> str:
    """``nodes (limit 500)``; ``rebuilding``."""
    return f"{partial.reason} (limit {partial.limit:,})" if partial.limit else partial.reason


def escape(text: str) -> str:
    """Text escaped for Markdown, on one line, without markup or HTML; ``@name`` notifies nobody."""
    return _MENTION.sub("@&#8203;", _MARKUP.sub(r"\\\1", _BLANKS.sub(_on_one_line, text)))


def _on_one_line(blanks: re.Match[str]) -> str:
    return " " if _BREAK.search(blanks.group()) else blanks.group()


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _full_name(item: ImpactItem) -> str:
    match item.kind:
        case "job":
            return f"{item.namespace}/{item.label}"
        case "column":
            return f"{item.uri}#{item.label}"
        case _:
            return item.uri or item.label


def _some(jobs: Sequence[JobReference]) -> str:
    """At most three jobs, and the number of the others."""
    shown = ", ".join(f"{job.namespace}/{job.name}" for job in jobs[:_MORE_JOBS])
    more = len(jobs) - _MORE_JOBS
    return f"{shown} and {more} more" if more > 0 else shown


def _marks(item: ImpactItem) -> str:
    """`` (may read) (metadata only) (declared) (at its next run)``."""
    marks = (
        "may read" if item.how == labels.MAY_READ and not item.reason else "",
        "metadata only" if item.reads else "",
        "declared" if item.declared else "",
        FLOW_WORDS[item.flow],
    )
    return "".join(f" ({mark})" for mark in marks if mark)


def _run(item: ImpactItem) -> str:
    return f"{item.last_run.at} {item.last_run.state}" if item.last_run else ""


@dataclass(frozen=True, slots=True)
class TextForm:
    """How the report of a question, and the one of a check, become text of a media type."""

    media_type: str
    write: Callable[[ImpactReport], str]
    write_check: Callable[[CheckReport], str]


JSON: Final = "json"
"""The form of a report that is not in TEXT_FORMS."""
TEXT_FORMS: Final[Mapping[str, TextForm]] = {
    "csv": TextForm("text/csv", write_csv, lambda report: write_csv(report.impact)),
    "markdown": TextForm("text/markdown", write_markdown, write_check_markdown),
}
