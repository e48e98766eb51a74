"""Large bodies of documents outside of the database, in a store of objects.

In reading order:

``store``  the promises of such a store, and which bodies go there
``s3``     a bucket of Amazon S3, or of a server that speaks its protocol
"""

from graph_model.stores.bodies.s3 import open_bodies
from graph_model.stores.bodies.store import BodyStore, LargeBodies

__all__ = ["BodyStore", "LargeBodies", "open_bodies"]
