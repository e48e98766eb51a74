"""Documents -> a server: a queue, a file, a folder for a later attempt.

In reading order:

``outbox``         delivery off the job's path: a bounded queue and one daemon thread
``post``           a POST of one document, and the kind of its failure
``document_files`` documents in files: a folder of undelivered ones, or one file as the destination
"""
