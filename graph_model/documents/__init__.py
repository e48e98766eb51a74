"""Documents on their way into the journal, wherever they come from.

    bytes -> JSON -> pieces -> submissions

In reading order:

``json_texts``     bytes, gzipped or not -> a JSON value, within bounds, one value for each key
``files``          documents in logs, exports and queues: recognised, joined, each with its line,
                   checked and masked
"""
