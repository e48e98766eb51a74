"""The catalogue: when, what it is called, how many. It never says what is connected to what.

Every table holds one kind of row of ``graph_model.facts``; nothing is kept that is not worked out
from the row alone, so the catalogue is a plain union of facts in any order. Read ``tables.py``,
``rows.py`` (in and out), ``history.py`` (questions asked at a time), ``lists.py``, ``search.py``
and then ``catalogue.py``, which puts them behind ``store.Catalogue``;
``generations.py`` says which catalogue is in force.
"""

from graph_model.catalogue.catalogue import SqlCatalogue
from graph_model.catalogue.generations import SqlGenerations

__all__ = ["SqlCatalogue", "SqlGenerations"]
