"""Curves -> an SVG: small panels side by side, each with an axis of its own. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

from bench.endurance.curves import Curve, Panel

_COLOURS: Final = (
    "#1f5fa8", "#c2571a", "#2b8a3e", "#8d2f8f", "#b08900", "#0b7f86", "#a61e4d", "#555555",
)  # fmt: skip
_ACROSS: Final = 3
_WIDTH: Final = 330
_HEIGHT: Final = 270
_LEFT: Final = 52
_TOP: Final = 78
_PLOT: Final = (260, 160)
"""Width and height of the axes of a panel."""
_LINE: Final = 13
_STYLE: Final = "font-family='sans-serif' font-size='11' fill='#333333'"


def draw(panels: Sequence[Panel]) -> str:
    """An SVG document; a panel without any point says so."""
    rows = math.ceil(len(panels) / _ACROSS)
    size = f"width='{_ACROSS * _WIDTH}' height='{rows * _HEIGHT}'"
    lines = [f"<svg xmlns='http://www.w3.org/2000/svg' {size} {_STYLE}>"]
    lines.append("<rect width='100%' height='100%' fill='#ffffff'/>")
    for place, panel in enumerate(panels):
        row, column = divmod(place, _ACROSS)
        lines.append(f"<g transform='translate({column * _WIDTH} {row * _HEIGHT})'>")
        lines += _panel(panel)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


def _panel(panel: Panel) -> Iterator[str]:
    yield _text(_LEFT, 18, panel.title, "font-weight='bold'")
    points = [point for curve in panel.curves for point in curve.points]
    if not points:
        yield _text(_LEFT, 34, "not measured")
        return
    far, high = max(runs for runs, _ in points), round_up(max(value for _, value in points))
    yield from _axes(far, high)
    for number, curve in enumerate(panel.curves):
        colour = _COLOURS[number % len(_COLOURS)]
        yield _text(
            _LEFT + 130 * (number % 2),
            33 + _LINE * (number // 2),
            curve.name,
            f"style='fill:{colour}'",
        )
        yield from _line(curve, far, high, colour)


def _axes(far: int, high: float) -> Iterator[str]:
    width, height = _PLOT
    for step in range(5):
        y = _TOP + height - height * step / 4
        yield f"<path d='M{_LEFT} {y:.1f}h{width}' stroke='#dddddd'/>"
        yield _text(_LEFT - 5, y + 4, f"{high * step / 4:,.4g}", "text-anchor='end'")
    yield _text(_LEFT, _TOP + height + 15, "0")
    yield _text(_LEFT + width, _TOP + height + 15, f"{far:,} runs", "text-anchor='end'")


def _line(curve: Curve, far: int, high: float, colour: str) -> Iterator[str]:
    width, height = _PLOT
    ends = [
        (_LEFT + width * runs / far, _TOP + height - height * value / high)
        for runs, value in curve.points
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in ends)
    yield f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='1.5'/>"
    for x, y in ends:
        yield f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2' fill='{colour}'/>"


def round_up(value: float) -> float:
    """The end of an axis: 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value)


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f"<text x='{x:.0f}' y='{y:.0f}' {more}>{escape(text)}</text>"
