"""OpenLineage's events on pages and in lists.

In reading order:

``events``        the event that stands for a document of any format on pages
``plans``         plans from OpenLineage's events: found by their runs, read from the journal
``inspection``    the fine view of such a plan: datasets, schemas, facets, code
``descriptions``  facets of a job or a dataset, in the words of its page
``listing``       the columns that lists of executions show and search of a run
``quality``       data quality assertions of a dataset -> passed or failed, with the failures
``trees``         runs as a tree at a time: a DAG's run, its tasks, their Spark applications. Pure
"""
