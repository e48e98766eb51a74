"""``headwater forget`` and ``prune``, each with its dry run.

In reading order:

``commands``  the sub-commands
``coverage``  the dry run: the documents that a command would remove
"""
