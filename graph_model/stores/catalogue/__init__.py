"""The catalogue: times, names, counts. It has no edges.

Every table holds one kind of row of ``graph_model.facts``, and a row depends on nothing else, so
the catalogue is a plain union of facts in any order.

A kind of question is a class beside its SQL, after a narrow protocol of
``graph_model.stores.protocols``; ``SqlCatalogue`` inherits them all.

In reading order:

``tables``        the tables: one for each kind of row, with an index for each question
``search_text``   the text that a search compares: computed columns of three tables
``catalogue``     SqlCatalogue: the catalogue of ``protocols`` in a relational database
``reading``       parts of statements that all questions share: values, conditions, orders
``nodes``         jobs, datasets, columns and plans by their ids and names
``history``       questions at a time: writes, reads, versions, existence
``listing``       lists, counts and search
``openlineage``   rows of OpenLineage's events alone: runs and facets
``statements``    declarations and commands of people, and facets of runs
``retention``     subjects, plans and documents behind the rows: for forget and prune
``plan_origins``  the producers that reported a plan id
``rows``          rows in and out: record, withdraw, clear, scan, digest
``bulk``          many rows into an empty catalogue: PostgreSQL's COPY, else inserts
``elements``      the elements of an engine that forgets them
``generations``   the catalogue in force, and the next one while it is built
``origin``        proof of the journal that a catalogue was made from, and of its position
"""

from graph_model.stores.catalogue.catalogue import SqlCatalogue
from graph_model.stores.catalogue.generations import SqlGenerations

__all__ = ["SqlCatalogue", "SqlGenerations"]
