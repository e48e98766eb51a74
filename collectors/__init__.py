"""Collectors: documents from files, logs and queues -> a destination.

In reading order:

``imports``       files -> documents -> a destination, with a message for every refused piece
``sqs``           documents by way of Amazon SQS
``kafka``         records of the agent's Kafka dispatcher -> a destination, one document a record
``destinations``  the destination of collected documents: the journal itself, or a running server
"""
