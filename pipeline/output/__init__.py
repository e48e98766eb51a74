"""The result of a rebuild, and its loading.

In reading order:

``records``   facts as records that Spark can carry: all ASCII, one spelling for equal content
``writing``   the folder of the result: a local path, ``s3a://`` or any other path of Hadoop
``manifest``  ``manifest.json``: the contents of the result, in one file beside it
``result``    a reader of the result in a local folder or a prefix on S3. Needs no Spark
``loading``   the result -> a graph and a catalogue, through the protocols of the stores
``placing``   the catalogue's rows -> the database of a service, as its catalogue in force
"""
