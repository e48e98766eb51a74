"""Names of files: partitions, and reads of many files.

In reading order:

``partitions``  path segments that name a partition or a part file, not the dataset
``file_lists``  many files in one read -> one dataset, named by their folder and pattern
"""
