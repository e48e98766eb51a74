"""Commands: instructions and statements of people, as documents.

In reading order:

``documents``    forget, prune, retract and statements about the graph, as documents
``recorded``     commands as the rows of a catalogue hold them
``submissions``  commands -> submissions to the journal
``producer``     the producer of commands
"""
