"""Definitions of columns in words: pure, bounded, the same for the same lineage.

    sum(price * quantity)  =>  the sum of price times quantity

In reading order:

``phrases``      one expression in words
``definitions``  all that a plan computes for a column, in one sentence
"""

from graph_model.answers.columns.wording.definitions import Source, define_column
from graph_model.answers.columns.wording.phrases import phrase

__all__ = ["Source", "define_column", "phrase"]
