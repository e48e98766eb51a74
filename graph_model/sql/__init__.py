"""SQL text -> what each statement reads and writes, and the columns behind each written column.

Pure, on sqlglot; a dialect is a parameter. Schemas come with the call: nothing is looked up. The
kinds of lineage are those of Spark plans (``graph_model.producers.spline.column_derivation``).

In reading order:

``translation``  :func:`translate`: a text -> its statements; temporary tables and renames folded
``scripts``      a text cut into statements, through procedures and their control flow
``holdings``     what variables and cursors of a procedure hold, through its branches
``tokens``       the words of a text, and the normal text of a statement
``respelling``   forms that sqlglot does not read, in ones that it reads
``parsing``      tokens -> one statement, in a bounded number of steps; tables of an unreadable one
``writes``       each kind of statement: what it writes, and from which values
``queries``      the relation that a query makes, in one walk over its scopes
``scopes``       what a name in a SELECT means: a column of one of its tables, an alias, or a gap
``results``      one query alone: what it reads, and the columns behind those of its result
``values``       relations, values with the columns behind them, and the expressions that make them
``names``        names folded and qualified as a dialect does it; declared schemas
``reply``        the answer as JSON, as lines for people, as a report of gaps
"""

from __future__ import annotations

from graph_model.sql.names import DIALECTS, qualified_name, quoted_name, split_name
from graph_model.sql.results import OpenLeaf, QueryLineage, read_query, unreadable
from graph_model.sql.scopes import SqlGap
from graph_model.sql.tokens import normal_text, normal_words
from graph_model.sql.translation import (
    MOST_CHARACTERS,
    RowPlace,
    RowWidth,
    SqlColumn,
    SqlOpen,
    SqlStatement,
    translate,
)

__all__ = [
    "DIALECTS",
    "MOST_CHARACTERS",
    "OpenLeaf",
    "QueryLineage",
    "RowPlace",
    "RowWidth",
    "SqlColumn",
    "SqlGap",
    "SqlOpen",
    "SqlStatement",
    "normal_text",
    "normal_words",
    "qualified_name",
    "quoted_name",
    "read_query",
    "split_name",
    "translate",
    "unreadable",
]
