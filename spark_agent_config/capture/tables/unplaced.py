"""Names of tables whose place Spark does not give: a connector's, or those of a vendor's catalog.

A report without them would lose the whole query, so they get a name in place of a URI, the same
for readers and writers, and the plan gets the gap ``unknown-place``:

    catalog ``crm``, identifier ``sales.orders``       => ``crm:sales.orders``
    ``format("mongodb").option("collection", "staff")``  => ``mongodb:staff``
    ``format("acme")`` without an option of that kind    => ``acme:``
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Options in which connectors take their table, in the order of precedence.
_TABLE_OPTIONS: Final = (
    "dbtable", "table", "tablename", "collection", "index", "resource", "topic", "sheet", "path",
)  # fmt: skip
#: The last part of the class of many sources.
_NO_NAME: Final = "DefaultSource"
#: Sources of Spark's own that store nothing.
_STORES_NOTHING: Final = ("console", "foreach", "memory", "noop", "rate")


def name_of_source(kind: str, options: Mapping[str, str]) -> str | None:
    """By the source's name and its options, those in small letters; None: it stores nothing."""
    parts = [part for part in kind.partition("(")[0].split(".") if part != _NO_NAME]
    short = parts[-1].strip() if parts else ""
    if not short or stores_nothing(short):
        return None
    table = next((options[name] for name in _TABLE_OPTIONS if options.get(name)), "")
    return f"{short.lower()}:{table}"


def name_in_catalog(catalog: str, database: str | None, table: str) -> str:
    return f"{catalog}:{database}.{table}" if database else f"{catalog}:{table}"


def stores_nothing(kind: str) -> bool:
    """Whether Spark's source or sink of this name keeps no data: a generator, a console."""
    return kind.lower().startswith(_STORES_NOTHING)
