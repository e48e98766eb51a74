"""OpenLineage's events in one normal form, and all events of a run as one state.

In reading order:

``documents``          the normal form: RunEvent, JobEvent and DatasetEvent
``facets``             facets: all are kept as they came; those with lineage are read into values
``declaration_facet``  Headwater's own facet: the person and the reason behind a JobEvent
``jobs``               the job of a run, its place in the Spark application, its run key
``separation``         the events under one run id -> the runs that they are about
``accumulate``         all events of one run -> one state, in any order and with any repetition
``runs``               runs without an end of their own, and the tree of runs
"""
