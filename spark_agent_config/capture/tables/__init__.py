"""Tables of catalogs and table formats, and the reads of them: names, versions, partitions.

In reading order:

``tables``              the names of catalog tables, and the places of their data, if Spark has them
``table_versions``      versions of Delta and Iceberg tables that a leaf reads or a command made
``relations``           the leaves of a plan as reads, in the stock agent's spelling
``stream_versions``     versions of tables that a micro-batch read and made
``written_partitions``  partitions that a write of files touched and its command does not name
"""
