"""The formats in which clients report lineage, each behind one protocol.

    documents of one subject key -> Producer -> Projection (facts, states of the documents)

In reading order:

``producer``       the seam: the protocols that a format implements, the values between
``registry``        the producers of a Headwater; documents of one subject key -> facts and states
``projections``     the writes and removals of one subject, and states and notes of its documents
``spline``          execution plans and events of the Spline agent and of the listener
``openlineage``     events of OpenLineage's clients
``declared``        lineage that a person declares
``commands``        instructions and statements of people
``elements``        facts that every format makes: datasets, jobs, plans, executions, renames
``bounds``          the size of a subject's facts, and the time from which answers count them
"""
