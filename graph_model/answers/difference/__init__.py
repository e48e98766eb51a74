"""Changes between two times, two executions, two plans or two schemas.

``questions`` and ``upstream`` gather the values to compare; the other modules compare them and
are pure. In reading order:

``questions``  the questions: answers at two times, plans, versions, causes
``graph``      two answers to one question: nodes and edges added, removed, changed
``schema``     two schemas of one dataset, column by column
``plan``       two plans, operation by operation, with the documents' own values
``alignment``  pairs of equal operations of two plans, whose numbers differ
``history``    versions: the schemas of a dataset, the logical plans of a job
``upstream``   changes upstream since the last good run
``causes``     those changes ranked: the likeliest cause of a failed run first
"""
