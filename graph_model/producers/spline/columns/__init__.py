"""Column lineage inside one plan: the read columns behind each written column.

Knows plans in normal form and the definitions of ``expressions``; no I/O, no graph. The rules:

- **How a value flows.** An alias, a union's branch, a CTE, a field picked from a struct and a cast
  to the type that the value already has are IDENTITY; any other cast or function is
  TRANSFORMATION; crossing an aggregate function, over a window too, is AGGREGATION. One source may
  reach a column in several ways: each is a derivation of its own (``a / sum(a) OVER ()``).
- **A value that only decides** is INDIRECT: conditions of CASE, IF and FILTER (WHERE …), the
  ordering of max_by and the comparison of a pivot are CONDITIONAL; PARTITION BY, ORDER BY and the
  arguments of ranking functions are WINDOW. A column that decides about an input of an expression
  also decides about its result. ``coalesce(a, b)`` takes both as values.
- **Plan-wide influences.** Conditions of joins of any kind (semi and anti too) are JOIN; those of
  filters are FILTER, and so are both sides of EXCEPT and INTERSECT, whose values are those of
  their left side alone; DISTINCT and dropDuplicates are GROUP_BY, as Spark itself rewrites them.
  Conditions are split at AND: a column carries only the conjuncts that it stands in.
- **Structs.** A struct built in the plan is TRANSFORMATION of all its members, also where each is a
  plain column: another value is made. It is remembered by member, so picking a field takes that
  member's sources alone, as they flowed into it; a field picked from a read column extends
  ``source_path``. Both hold through arrays, explode, CASE and unions; any other function closes
  the struct. A written struct that is not closed tells the fields that each source flows into.
- **Lambdas** (``expressions.functions``). A variable is the element, key or accumulator that it
  stands for, so a field picked from it is that of the element. The result of a lambda of transform,
  zip_with and aggregate flows on; that of filter, exists, forall and a comparator
  is CONDITIONAL. An array of which a lambda takes no element says how many there are: CONDITIONAL.
  Keys of a map are the map as a whole. A fold is no AGGREGATION: it stays within its row.
- **Generators.** Every column of explode, posexplode and the like comes from all inputs; those of
  ``stack`` and ``inline`` from the inputs in their place.
- **UPDATE and MERGE** keep a row's value (IDENTITY) or set it (by the expression); their
  conditions are CONDITIONAL for the columns that they set. A clause's condition chooses rows, as
  a filter does: the copied value is IDENTITY, unlike a value that a CASE of the query chooses. The
  condition of a clause that deletes rows is FILTER (the listener's ``deletions``).

In reading order:

``derivation``  :func:`derive`: a plan -> its column lineage, down to fields of written structs, and
                the influences on its rows
``valuation``   values of attributes and expressions: the read columns behind each, by how they flow
"""
