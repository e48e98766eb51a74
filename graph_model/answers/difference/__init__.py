"""Changes between two times, two executions, two plans or two schemas.

``times``, ``plans``, ``versions`` and ``upstream`` read the stores, each for a question; the other
modules compare and are pure. Hidden nodes never enter a comparison. In reading order:

``times``     two answers to one question, at two times or those of two executions
``plans``     two plans, operation by operation, with the documents' own values
``versions``  the schemas of a dataset, the logical plans of a job, newest first
``upstream``  changes upstream since the last good run
``graphs``    two answers or two schemas: what was added, removed, changed; equal operations of two
              plans
``causes``    changes upstream ranked: the likeliest cause of a failed run first
"""
