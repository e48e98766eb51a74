"""The parts of a URI: the spelling of each, and the parts that are no identity.

In reading order:

``escapes``     percent-encoding, as far as identity needs it
``parameters``  parts outside identity: logins, secrets, temporary signatures
``partitions``  path segments that name a partition or a part file, not the dataset
``containment`` which locations a folder or a pattern holds
"""
