"""Questions about runs.

In reading order:

``pages``    ``/graph/jobs/<id>/runs``: the runs of a job, and one run with its executions
``one_run``  ``/graph/runs/<id>``: one run by any of its ids, with its tree and its executions
``trees``    parent and child runs at a time
"""
