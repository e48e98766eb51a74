"""Lists, counts and search.

In reading order:

``lists``              lists of datasets, jobs, columns and runs: page by page, with true totals
``events``             lists of executions and data sources: see ``protocols.events``
``search``             substring search over the names of datasets, jobs and columns, in any case
``estate``             totals of the whole catalogue, and the jobs that failed last
``recent_executions``  the newest executions of all jobs
``waiting_jobs``       the jobs that have waited for their next run longer than they usually do
``uses``               the number of rows with a value, kept in a table where no index has it
"""
