"""Codes of the gaps of a plan that several packages know: what its document leaves open.

A plan's row lists its gaps as ``{"code": …, "detail": …}``; a producer may have codes of its own.
"""

from __future__ import annotations

from typing import Final

#: An expression holds a query that is not in the document.
SUBQUERY: Final = "subquery"
#: An overwrite that may have kept some partitions: no document reports which.
PARTITIONS_UNKNOWN: Final = "partitions-unknown"
