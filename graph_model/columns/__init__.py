"""Column lineage inside one plan: which read columns each written column comes from, and how.

Knows plans in normal form and what ``expressions`` tells of their names; no I/O, no graph. Read
``values`` (what a column's value is made of, and how functions combine that) and ``derivation``
(:func:`derive`, from a plan to its columns).

Decisions that somebody may want to undo:

- **How a value flows.** An alias, a union's branch, a CTE, a field picked from a struct and a cast
  to the type that the value already has are IDENTITY; any other cast or function is
  TRANSFORMATION; crossing an aggregate function, over a window too, is AGGREGATION. One source may
  reach a column in several ways: each is a derivation of its own (``a / sum(a) OVER ()``).
- **What only decides** is INDIRECT: conditions of CASE, IF and FILTER (WHERE …), what max_by
  orders by, what a pivot compares are CONDITIONAL; PARTITION BY, ORDER BY and the arguments of
  ranking functions are WINDOW. What decided about an input of an expression decides about its
  result. ``coalesce(a, b)`` takes both as values.
- **Plan-wide influences.** Conditions of joins of any kind (semi and anti too) are JOIN; those of
  filters are FILTER, and so are both sides of EXCEPT and INTERSECT, whose values are those of
  their left side alone; DISTINCT and dropDuplicates are GROUP_BY, as Spark itself rewrites them.
  Conditions are split at AND: a column carries only the conjuncts that it stands in.
- **Structs.** A struct built in the plan is remembered by member, so picking a field takes that
  member's sources alone; a field picked from a read column extends ``source_path``. Both hold
  through arrays, explode, CASE and unions; any other function closes the struct.
- **Lambdas** (see ``lambdas``). A variable is the element, the key or the accumulator that it
  stands for, so a field picked from it is that of the element. What the lambda of transform,
  zip_with and aggregate gives flows on; what that of filter, exists, forall and a comparator gives
  is CONDITIONAL. An array of which a lambda takes no element says how many there are: CONDITIONAL.
  Keys of a map are the map as a whole. A fold is no AGGREGATION: it stays within its row.
- **Generators.** Every column of explode, posexplode and the like comes from all inputs; those of
  ``stack`` and ``inline`` from the inputs in their place.
- **UPDATE and MERGE** keep a row's value (IDENTITY) or set it (by the expression); their
  conditions are CONDITIONAL for the columns that they set.
"""

from __future__ import annotations

from graph_model.columns.derivation import Derivation, Influence, PlanColumns, derive
from graph_model.expressions.definitions import Gap

__all__ = ["Derivation", "Gap", "Influence", "PlanColumns", "derive"]
