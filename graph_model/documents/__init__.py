"""Documents on their way into the journal, wherever they come from.

    bytes -> JSON -> pieces -> submissions

In reading order:

``gzip_streams``   a gzip stream -> its bytes, within a bound
``json_texts``     UTF-8 bytes -> a JSON value, within bounds, with one value for each key
``repeated_keys``  JSON texts that give a key twice in one object
``announcements``  how dispatchers announce documents: by a marker in a log, by headers
``files``          documents in log files and exports: recognised, each with its line
``wrapped_lines``  messages that a log broke over several lines, joined
``pieces``         a document from a file or a queue -> a submission, checked and masked
"""
