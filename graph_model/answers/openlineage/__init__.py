"""Plans, runs and facets that OpenLineage's events report, in the words of pages.

In reading order:

``reported_plans``  plans from events: found by their runs, read from the journal, drawn
``descriptions``    facets of a job or a dataset, in the words of its page
``run_trees``       runs as a tree at a time: a DAG's run, its tasks, their Spark applications. Pure
"""
