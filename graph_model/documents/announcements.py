"""How dispatchers announce documents, whatever their format: by a marker in a log, by headers.

    INFO ConsoleTransport: ExecutionPlan (apiVersion: 1.2): {…}     a marker: a name, a version
    INFO ConsoleTransport: {"eventTime": …}                         the document's own beginning
    __TypeId__: ExecutionPlan_1.2                                   headers of a message
    ABSA-Spline-Entity-Type: ExecutionPlan

The names and beginnings are those of the producers (``Producer.announced``, ``Producer.openings``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from graph_model.errors import InvalidFields
from graph_model.producers.registry import Producers
from graph_model.stores.documents import DocumentKind

TYPE_HEADER: Final = "__TypeId__"
ENTITY_HEADER: Final = "ABSA-Spline-Entity-Type"
VERSION_HEADER: Final = "ABSA-Spline-API-Version"
_NEVER: Final = "(?!)"
_DEFAULT_VERSION: Final = "1.1"
"""For a type without a version: agents 0.7 send one, and wrote API 1.1 whatever else they state."""


@dataclass(frozen=True, slots=True)
class Markers:
    """``pattern`` finds the place where a document begins in a line: group 1 is its announced name
    and group 2 its version, none for a document that announces itself by one of ``openings``.
    """

    pattern: re.Pattern[str]
    openings: tuple[str, ...]


@lru_cache(maxsize=4)
def markers_of(producers: Producers) -> Markers:
    """The markers of all formats."""
    names = "|".join(map(re.escape, producers.announced)) or _NEVER
    beginnings = "|".join(map(re.escape, producers.openings)) or _NEVER
    pattern = rf"\b({names}) \(apiVersion: ([0-9.]{{1,8}})\):|(?={beginnings})"
    return Markers(re.compile(pattern), producers.openings)


def is_announced(headers: Mapping[str, str]) -> bool:
    """Whether the headers of a message name the kind of its document."""
    return TYPE_HEADER in headers or ENTITY_HEADER in headers


def kind_and_version(headers: Mapping[str, str], producers: Producers) -> tuple[DocumentKind, str]:
    """``ExecutionPlan_1.2`` => (plan, 1.2); otherwise from the two headers of Spline's client.

    Raises InvalidFields for a name or a version that no producer has.
    """
    if TYPE_HEADER in headers:
        name, separator, version = headers[TYPE_HEADER].partition("_")
        where, version = TYPE_HEADER, version if separator else _DEFAULT_VERSION
    else:
        name = headers.get(ENTITY_HEADER, "")
        where, version = ENTITY_HEADER, headers.get(VERSION_HEADER, _DEFAULT_VERSION)
    kind = producers.announced.get(name)
    if kind is None:
        given = f"not {name[:60]!r}" if name else "and there is none"
        listed = ", ".join(producers.announced)
        raise InvalidFields({f"header {where}": [f"one of {listed}, {given}"]})
    version, known = plain_version(version), producers.versions_of(kind)
    if version not in known:
        listed = ", ".join(known)
        raise InvalidFields(
            {f"header {where}": [f"an API version among {listed}, not {version[:20]!r}"]}
        )
    return kind, version


def plain_version(version: str) -> str:
    """``1.0`` => ``1``."""
    return version.removesuffix(".0")
