"""What stands behind a name in a plan, and how to say it.

Knows plans in normal form (``documents``) and nothing else: no I/O, no clock, no graph. Read in
this order:

1. ``walk``         one iterative post-order walk, shared by everything here and by ``columns``
2. ``roles``        what each argument of a function does: its value flows, or it only decides
3. ``definitions``  where an attribute comes from, what ``childRefs`` miss included
4. ``commands``     Delta commands whose expressions arrive only as text
5. ``literals``     constants as SQL
6. ``text``         :class:`Renderer`: SQL-like text of any reference
7. ``properties``   the parameters of an operation as readable pairs
8. ``tree``         an expression as nested JSON-able values
"""

from __future__ import annotations

from graph_model.expressions.definitions import Definitions, Gap
from graph_model.expressions.properties import operation_properties
from graph_model.expressions.text import Renderer
from graph_model.expressions.tree import expression_tree

__all__ = ["Definitions", "Gap", "Renderer", "expression_tree", "operation_properties"]
