"""Curves -> the table of docs/benchmarks.md. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bench.endurance.curves import Curve, Panel, Point


def table(panels: Sequence[Panel]) -> str:
    """A line a curve: the first sample, one in the middle, the last, and how often the first the
    last is. The first after a start counts the compiling of the engine's JVM, so the middle counts.
    """
    runs = sorted({at for panel in panels for curve in panel.curves for at, _ in curve.points})
    if not runs:
        return "nothing is measured yet\n"
    chosen = sorted({runs[0], runs[len(runs) // 2], runs[-1]})
    head = ["", *(f"{at:,} runs" for at in chosen), "last / first"]
    lines = [_row(head), "|---|" + "---|" * (len(head) - 1)]
    for panel in panels:
        lines += [
            _row(_cells(panel.title, curve, chosen)) for curve in panel.curves if curve.points
        ]
    return "\n".join(lines) + "\n"


def _cells(title: str, curve: Curve, chosen: Sequence[int]) -> list[str]:
    result = dict(curve.points)
    cells = [_spelled(result.get(at)) for at in chosen]
    return [f"{curve.name} ({title})", *cells, _ratio(curve.points)]


def _ratio(points: Sequence[Point]) -> str:
    first, last = points[0][1], points[-1][1]
    return f"{last / first:.2f}" if first and len(points) > 1 else ""


def _spelled(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
