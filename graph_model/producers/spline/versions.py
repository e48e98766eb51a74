"""The versions of tables that an execution wrote and read, from its event.

    "writtenVersion": {"id": "5441396548426740115", "number": 2, "branch": "audit"}
    "readVersions": [{"source": "s3://lake/t", "id": "0", "number": 0, "since": 0}]

A read that is not listed is an ordinary one: the main branch as it was at its time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from graph_model.facts import EVERY_BRANCH, MAIN_BRANCH, NO_NUMBER, Version
from graph_model.producers.elements.datasets import is_version_text, version_of_text

MAX_READS: Final = 200
_MAX_NUMBER: Final = 2**63 - 1
_MAIN: Final = "main"
_DELTA_OPTION: Final = "versionasof"
_ICEBERG_OPTION: Final = "snapshot-id"


def read_version(reported: Any) -> Version | None:
    """None for a malformed version, which is ignored."""
    if not isinstance(reported, Mapping):
        return None
    key, branch = reported.get("id"), reported.get("branch", _MAIN)
    number, since = reported.get("number"), reported.get("since", NO_NUMBER)
    if not is_version_text(key) or not is_version_text(branch) or branch == EVERY_BRANCH:
        return None
    if not _is_number(number) or ("since" in reported and not _is_number(since)):
        return None
    return Version(key, number, MAIN_BRANCH if branch == _MAIN else branch, since)


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_NUMBER


def version_of_options(options: Mapping[str, Any]) -> Version | None:
    """The version in the options of a read, as the stock agent sends them: ``versionAsOf`` of Delta
    (of Iceberg a snapshot's id), ``snapshot-id`` of Iceberg.
    """
    named = {name.lower(): value for name, value in options.items()}
    version = version_of_text(_spelled(named.get(_DELTA_OPTION)))
    if version is not None:
        return version
    snapshot = version_of_text(_spelled(named.get(_ICEBERG_OPTION)))
    return None if snapshot is None else Version(snapshot.id, NO_NUMBER)


def _spelled(value: Any) -> Any:
    return str(value) if _is_number(value) else value
