"""Documents -> a server: a queue, a file, a folder for a later attempt.

In reading order:

``outbox``         delivery off the job's path: a bounded queue and one daemon thread
``post``           a POST of one document, and the kind of its failure
``spill``          a folder of undelivered documents: one run keeps them, a later one delivers
``document_file``  documents in a file, one a line: undelivered ones, or a file as the destination
"""
