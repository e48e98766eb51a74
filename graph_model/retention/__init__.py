"""The documents that a forget or prune command covers, and retention without a command.

In reading order:

``coverage``   the documents that a forget or prune command names, computed when it is given;
               a prune in steps of a bounded number of executions
``policy``     the setting HEADWATER_KEEP, and the note about its last night
``forecast``   the date when room runs out, from measured growth
"""
