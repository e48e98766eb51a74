"""The formats in which lineage is reported: each translates its documents behind one protocol.

    documents of one subject key -> Producer -> Projection (facts, states of the documents)

Read ``producer`` (the protocols), then ``registry`` (which producers there are), ``spline``,
``openlineage`` and ``commands``.
"""
