"""Documents on their way into the journal, wherever they come from.

    bytes -> JSON -> pieces -> submissions

In reading order:

``json_texts``     UTF-8 bytes -> a JSON value, within bounds, with one value for each key; a gzip
                   stream -> its bytes, within a bound
``files``          documents in log files and exports: recognised, joined, each with its line; from
                   there and from queues to submissions, checked and masked; how dispatchers
                   announce documents: by a marker in a log, by headers
"""
