"""The formats in which clients report lineage, each behind one protocol.

    documents of one subject key -> Producer -> Projection (facts, states of the documents)

In reading order:

``producer``            the two protocols that a format implements
``registry``            the producers of a Headwater, as an immutable value
``translation``         the documents of one subject key -> facts, and a state for each document
``projections``         the writes and removals of one subject, and the states of its documents
``translation_result``  the result for the documents of one key: facts, and a state for each
``counted_times``       the time from which answers count what a document reports
``client_spellings``    the names of a document as its client spelled them
``document_notes``      the journal's notes beside a projected document
``spline``              execution plans and events of the Spline agent and of the listener
``openlineage``         events of OpenLineage's clients
``declared``            lineage that a person declares
``commands``            instructions and statements of people
``elements``            facts that every format makes: datasets, jobs, executions, renames
``command_effects``     the effect on documents of the commands in force
``size_bounds``         the size of a subject's facts, and its bounds
``times``               event times as clients write them: ISO 8601, from no fraction to nanoseconds
``canonical_json``      one spelling of JSON inside facts: equal content, equal text
"""
