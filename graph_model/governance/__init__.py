"""What people say about the graph without changing it: layers, classifications, what is hidden.

Each is a statement in the journal (``commands.Statement``); what holds is a pure function of the
set of them (``standing.govern``). Nothing in the graph is rewritten: answers are marked with what
holds now, whatever time they were asked for. Reading order: ``layers``, ``nodes``,
``classifications``, ``standing``, ``marking``, ``propagation``, ``previews``.
"""
