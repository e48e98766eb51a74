"""``headwater journal``, ``backup``, ``restore`` and ``consume``.

In reading order:

``commands``      ``headwater journal``: list, export and import documents
``consuming``     ``headwater consume``: documents from a queue
``destinations``  the destination of imported documents: the journal, or a running server
``posting``       documents of a command -> the producer routes of a running server
``backup``        ``headwater backup`` and ``restore``
``backup_file``   the file of a backup: the whole journal and the API keys
"""
