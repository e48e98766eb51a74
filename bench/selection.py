"""The part of a measurement to run: ``--only`` and numbers of rounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from graph_model.errors import ConfigurationError

_Item = TypeVar("_Item")


def select(
    items: Iterable[_Item], only: Collection[str], name: Callable[[_Item], str]
) -> list[_Item]:
    """The items with these names; all of them for no name.

    Raises ConfigurationError that lists the known names when a name is unknown, so that a
    measurement never reports about nothing.
    """
    known = list(items)
    names = [name(item) for item in known]
    unknown = [word for word in only if word not in names]
    if unknown:
        listed = ", ".join(names) or "none"
        raise ConfigurationError(f"--only {' '.join(unknown)}: not known; known are: {listed}")
    return [item for item in known if not only or name(item) in only]


def positive(text: str) -> int:
    """A number of at least 1, for argparse. Raises ValueError for anything else."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
