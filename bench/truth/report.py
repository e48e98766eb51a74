"""The measurements, as a table for people and as JSON for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from bench.truth.comparison import ROWS
from bench.truth.verdicts import CONFIRMED, REFUTED, UNTESTED, Judgement


@dataclass(frozen=True, slots=True)
class Measured:
    """One job: ``columns`` are the names of its outputs, ``runs`` how often it was run again."""

    job: str
    columns: tuple[str, ...]
    rows: int
    runs: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of edges and movements, of one job or of many."""

    confirmed: int = 0
    refuted: int = 0
    untested: int = 0
    explained: int = 0
    missing: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def precision(self) -> float:
        return _share(self.confirmed, self.refuted)

    @property
    def recall(self) -> float:
        return _share(self.explained, self.missing)

    @property
    def coverage(self) -> float:
        return _share(self.confirmed, self.refuted + self.untested)


def _share(good: int, bad: int) -> float:
    """Of nothing, nothing is wrong: 1.0."""
    return good / (good + bad) if good + bad else 1.0


def score(judgement: Judgement) -> Score:
    return Score(
        judgement.count(CONFIRMED),
        judgement.count(REFUTED),
        judgement.count(UNTESTED),
        len(judgement.explained),
        len(judgement.missing),
    )


def total(measured: Sequence[Measured]) -> Score:
    return sum((score(item.judgement) for item in measured), Score())


def passes(found: Score, floor: float) -> bool:
    """Whether precision and recall both reach the floor; where nothing was tested they do not."""
    tested = found.confirmed + found.refuted + found.explained + found.missing
    return tested > 0 and found.precision >= floor and found.recall >= floor


_HEAD = "job                      rows  runs  edges  conf  refut  untest  moved  miss   prec recall"


def table(measured: Sequence[Measured]) -> str:
    """One line a job and the total, then each thing that is not as it should be."""
    lines = [
        _HEAD,
        *(_line(item.job, item.rows, item.runs, score(item.judgement)) for item in measured),
    ]
    runs = sum(item.runs for item in measured)
    whole = total(measured)
    lines.append(_line("total", sum(item.rows for item in measured), runs, whole))
    lines.append(f"coverage (confirmed of all edges): {whole.coverage:.3f}")
    for entry in measured:
        lines.extend(f"  {entry.job}: {finding}" for finding in findings(entry))
    return "\n".join(lines) + "\n"


def _line(name: str, rows: int, runs: int, found: Score) -> str:
    edges = found.confirmed + found.refuted + found.untested
    return (
        f"{name:<24} {rows:>4} {runs:>5} {edges:>6} {found.confirmed:>5} {found.refuted:>6} "
        f"{found.untested:>7} {found.explained + found.missing:>6} {found.missing:>5} "
        f"{found.precision:>6.3f} {found.recall:>6.3f}"
    )


def findings(one: Measured) -> Iterator[str]:
    """Sentences about the edges and movements that are not as they should be."""
    for pair in one.judgement.missing:
        how = "arrived in" if pair.arrived else "moved"
        yield f"missing: {pair.source.text} {how} {_named(one, pair.output)}"
    for word in (REFUTED, UNTESTED):
        for verdict in one.judgement.of(word):
            edge = verdict.edge
            name = _named(one, edge.output)
            yield f"{word}: {edge.source.text} -> {name} {edge.how} ({verdict.reason})"


def _named(one: Measured, place: int) -> str:
    return "(rows)" if place == ROWS else one.columns[place]


def as_json(measured: Sequence[Measured], skipped: Sequence[str]) -> dict[str, Any]:
    """``{"total": {...}, "jobs": [{...}], "skipped": [...]}``."""
    return {
        "total": _score_json(total(measured)),
        "jobs": [
            {
                "job": item.job,
                "rows": item.rows,
                "runs": item.runs,
                **_score_json(score(item.judgement)),
                "findings": list(findings(item)),
            }
            for item in measured
        ],
        "skipped": list(skipped),
    }


def _score_json(found: Score) -> dict[str, Any]:
    return {
        **asdict(found),
        "precision": round(found.precision, 4),
        "recall": round(found.recall, 4),
        "coverage": round(found.coverage, 4),
    }
