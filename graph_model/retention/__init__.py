"""The documents that a forget or prune command covers, and retention without a command.

In reading order:

``coverage``       the documents that a forget or prune command names, computed when it is given
``policy``         the setting HEADWATER_KEEP, and the note about its last night
``prune_steps``    a prune in steps of a bounded number of executions
``forecast``       the date when room runs out, from measured growth
"""
