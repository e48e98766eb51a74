"""Codes of the gaps of a plan (parts that its document leaves open) that several packages know.

A plan's row lists its gaps as ``{"code": …, "detail": …}``; a producer may have codes of its own.
"""

from __future__ import annotations

from typing import Final

#: An expression holds a query that is not in the document.
SUBQUERY: Final = "subquery"
#: An overwrite that may have kept some partitions: no document reports which.
PARTITIONS_UNKNOWN: Final = "partitions-unknown"
#: Parts that are left out because the plan grows too large.
TOO_LARGE: Final = "column-lineage-too-large"
SCHEMAS_TOO_LARGE: Final = "schemas-too-large"
OPERATIONS_TOO_LARGE: Final = "operations-too-large"
#: The fields of structs with their sources are too many: a field has the sources of its struct.
FIELDS_TOO_MANY: Final = "fields-too-many"
