"""A table that got another name, as facts, whichever producer reported it."""

from __future__ import annotations

from typing import NamedTuple

from graph_model.facts import FactCollector, NameRow, RenameRow, SupportRow
from graph_model.naming import DatasetName
from graph_model.producers.elements.datasets import add_dataset


class Rename(NamedTuple):
    """``in_place``: the data stayed in its location, and these are catalog names."""

    former: DatasetName
    current: DatasetName
    in_place: bool


def add_rename(
    collector: FactCollector, rename: Rename, subject: str, execution: str, at: int
) -> None:
    """Add the facts of a rename by a completed execution."""
    former, current = (add_dataset(collector, end) for end in (rename.former, rename.current))
    collector.add(SupportRow(subject, former), SupportRow(subject, current))
    collector.add(RenameRow(former, current, execution, at))
    if rename.in_place:
        collector.add(NameRow(former, former, execution, at))
