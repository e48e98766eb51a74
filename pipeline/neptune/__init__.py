"""Neptune's bulk loader and its CSV.

In reading order:

``bulk_loader``  a load of vertices, then of edges, watched until both have ended
``csv``          the loader's CSV (Gremlin format): a writer, and a reader as strict as Neptune's
"""
