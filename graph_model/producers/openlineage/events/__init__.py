"""OpenLineage's events in one normal form, and all events of a run as one state.

In reading order:

``documents``   the normal form: RunEvent, JobEvent and DatasetEvent
``facets``      facets: all are kept as they came; those with lineage are read into values
``jobs``        the job of a run, its place in the Spark application, its run key
``accumulate``  the events under one run id -> its runs, each run -> one state
"""
