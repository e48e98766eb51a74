"""Documents on their way into the journal, wherever they come from.

    bytes -> JSON -> pieces -> submissions

In reading order:

``gzip_streams``   a gzip stream -> its bytes, within a bound
``json_texts``     UTF-8 bytes -> a JSON value, within bounds, with one value for each key
``announcements``  how dispatchers announce documents: by a marker in a log, by headers
``files``          documents in log files and exports: recognised, joined, each with its line; from
                   there and from queues to submissions, checked and masked
"""
