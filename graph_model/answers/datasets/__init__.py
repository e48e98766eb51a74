"""Questions about datasets.

In reading order:

``pages``        ``/graph/datasets``: datasets, and one dataset with its schema, writers, readers
``history``      ``/graph/datasets/<id>/history``: the executions that wrote a dataset
``last_writer``  ``/graph/datasets/<id>/last-writer``: the newest write of a dataset or partition
``renames``      ALTER TABLE ... RENAME TO: the former and the later names of a dataset
"""
