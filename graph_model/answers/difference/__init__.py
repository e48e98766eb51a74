"""Changes between two times, two executions, two plans or two schemas.

``times``, ``executions``, ``plan_pairs``, ``versions`` and ``upstream`` read the stores, each for a
question; the other modules compare and are pure. Hidden nodes never enter a comparison. In reading
order:

``times``            two answers to one question, at two times
``executions``       two executions: the answers at the times of both, and their plans
``plan_pairs``       two plans, compared by their documents
``versions``         the schemas of a dataset, the logical plans of a job, newest first
``graph``            two answers to one question: nodes and edges added, removed, changed
``schema``           two schemas of one dataset, column by column
``plan``             two plans, operation by operation, with the documents' own values
``alignment``        pairs of equal operations of two plans, whose numbers differ
``version_history``  versions: the schemas of a dataset, the logical plans of a job
``upstream``         changes upstream since the last good run
``causes``           those changes ranked: the likeliest cause of a failed run first
"""
