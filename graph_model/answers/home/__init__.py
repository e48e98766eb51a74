"""The first questions of a reader, about the whole estate.

In reading order:

``rhythm``           how often a job runs, from the times of its runs, and whether it is late
``recent_activity``  ``/graph/home``: recent failures, late jobs, last writes
``runs``             ``/graph/runs``: the runs of all jobs, newest first
``areas``            the areas in which a dataset lies, from its URI alone
``map``              ``/graph/map``: the areas of the estate and the flows between them
"""
