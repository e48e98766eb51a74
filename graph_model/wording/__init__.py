"""What columns mean, in words: pure, bounded, the same for the same lineage.

    sum(price * quantity)  =>  the sum of price times quantity

``phrases`` reads one expression, ``definitions`` puts together what a plan does for a column.
"""

from graph_model.wording.definitions import Source, define_column
from graph_model.wording.phrases import phrase

__all__ = ["Source", "define_column", "phrase"]
