"""Collectors: documents from files, logs and queues -> a destination. The console starts them.

In reading order:

``imports``       files -> documents -> a destination, with a message for every refused piece
``sqs``           documents by way of Amazon SQS
``kafka``         records of the agent's Kafka dispatcher -> a destination, one document a record
``harvesting``    histories of queries and catalogues -> events of OpenLineage -> a destination
``destinations``  the destination of collected documents, chosen by the console
"""
