"""Questions at a time: writes, reads, versions, existence.

In reading order:

``executions``         executions over time: pages of them, writers, the newest
``newest_executions``  the newest execution of a job, a dataset or a plan
``writes``             the writes that a read can have seen, for many datasets and times at once
``duplicate_reports``  writes that several documents may report together
``reads``              the reads of logical plans that write nothing: one index seek a plan
``table_versions``     versions of tables: the writes that made them, the executions that read them
``schemas``            the schema of a dataset, and the plans that use a schema
``names``              the present and former names of a dataset: catalog names and renames
``existence``          existence at a time: conditions on datasets and jobs
``declared``           declared flows, and the time in which each was in force
``write_columns``      parts of statements on writes: columns, locations, periods
"""
