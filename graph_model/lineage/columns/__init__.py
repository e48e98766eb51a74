"""Columns up and down, true in time: derivations of the executions that the table walk relates.

A state is a column of a moment. A write of a struct writes its fields: an edge into ``customer``
also leads into ``customer.address.city``, in a walk in either direction, unless the edge names the
fields that its source flows into (``naming.columns``) and these are others. A field of a struct
that was copied comes from that field of the source; where no document names that field, the struct
around it stands for it in the answer, so every column of an answer is a known one.

In reading order:

``walks``        the walks: columns up and down, and those inside the tables of an answer; one hop
                 of a column, through locations that share files too
``derivations``  a column at a moment and a derivation between two, each read from the graph once
"""
