"""The areas in which a dataset lies, from its URI and kind alone: pure.

    s3://shop-lake/curated/hr/employees  =>  ("s3://shop-lake", "curated", "hr")
    jdbc:redshift://warehouse/analytics:mart.revenue  =>  ("jdbc:redshift://warehouse", "analytics", "mart")
    kafka:web.clicks  =>  ("kafka:",)
    spark_catalog/hr.staff, a catalog name  =>  ("spark_catalog", "hr")

The last part of a name is the dataset's own and names no area.
"""  # noqa: E501

from __future__ import annotations

import re
from typing import Final

_PLACE: Final = re.compile(r"^((?:jdbc:)?[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?)/*(.*)$", re.DOTALL)
_MOST: Final = 8


def areas_of(uri: str, kind: str) -> tuple[str, ...]:
    """From the widest to the narrowest, at most eight."""
    if kind == "name":
        catalog, _, table = uri.rpartition("/")
        return (catalog, *table.split(".")[:-1])[:_MOST]
    found = _PLACE.match(uri)
    if found is None:
        return ()
    place, rest = found.groups()
    if not place.startswith("jdbc:"):
        parts = [part for part in rest.split("/") if part]
        return (place, *parts[:-1])[:_MOST]
    database, _, table = rest.partition(":")
    parts = [part for part in (*database.split("/"), *table.split(".")[:-1]) if part]
    return (place, *parts)[:_MOST]
