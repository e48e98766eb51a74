"""The definitions of a plan's attributes and expressions, and their text.

Knows plans in normal form (``documents``) and nothing else: no I/O, no clock, no graph. In
reading order:

``walk``         one iterative post-order walk, also for ``columns``: plans are too deep to recurse
``roles``        the role of each argument of a function: its value flows, or it only decides
``definitions``  the definition of each attribute, where ``childRefs`` lack it as well
``commands``     Delta's MERGE, UPDATE and DELETE: expressions that the agent sends only as text
``literals``     constants as SQL text
``forms``        the SQL form of each function, given the texts of its children
``text``         :class:`Renderer`: SQL-like text of any reference
``properties``   the parameters of an operation as readable (name, text) pairs
"""

from __future__ import annotations

from graph_model.producers.spline.expressions.definitions import Definitions
from graph_model.producers.spline.expressions.properties import operation_properties
from graph_model.producers.spline.expressions.text import Renderer

__all__ = ["Definitions", "Renderer", "operation_properties"]
