"""Columns: their list, one column, and its definition in words.

In reading order:

``lists``    the columns of all datasets
``pages``    one column: its dataset, its types, its definition
``wording``  definitions of columns in words: pure, bounded, the same for the same lineage
"""
