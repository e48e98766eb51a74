"""The catalogue: times, names, counts. It has no edges.

Every table holds one kind of row of ``graph_model.facts``, and a row depends on nothing else, so
the catalogue is a plain union of facts in any order.

A kind of question is a class beside its SQL; ``Catalogue`` inherits them all.

In reading order:

``tables``       the tables: one for each kind of row, with an index for each question
``catalogue``    Catalogue: its parts together; the one in force, and the next while it is built
``reading``      parts of statements that all questions share: values, conditions, orders
``names``        jobs, datasets, columns and plans by their ids and names; former names
``executions``   executions over time, the newest of a job, a dataset or a plan; existence
``writes``       the writes that a read can have seen: by time, by declaration, reported twice
``versions``     the writes that a read can have seen: by version
``lists``        lists and counts of datasets, jobs and runs
``search``       datasets, jobs and columns by the words of their names
``events``       lists of executions, data sources and labels, with filters, in any order
``facets``       over time: runs and facets from OpenLineage's events, schemas of datasets
``support``      statements of people; subjects, plans and documents, for forget and prune
``rows``         rows in and out: record, withdraw, clear, scan, digest; many at once; with them
                 the elements of an engine that forgets them, and the journal they come from
"""

from graph_model.stores.catalogue.catalogue import Catalogue, Generations
from graph_model.stores.catalogue.facets import FacetRecords

__all__ = ["Catalogue", "FacetRecords", "Generations"]
