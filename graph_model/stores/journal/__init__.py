"""The journal: documents as they came, durable before the client is answered.

It knows documents as bytes with a kind, a scope and a state, never their content. In reading
order:

``journal``          Journal: its parts together, its own id; lists, counts, samples, sizes on disk
``tables``           the tables of the journal
``stored_bodies``    how a body is packed and verified by its hash; large ones outside the database
``arrivals``         new documents, repeats, states and removals: many requests in one transaction;
                     settings
``intake``           documents into the journal, their states; whether it takes any now
``stored_documents`` documents by their subject keys and positions, with their bodies or without
``integrity``        a check of the whole journal: each body inflated and hashed, each row compared
``archive``          the journal as lines of text, from any database into any database
"""

from graph_model.stores.journal.journal import NEW_KEY, Journal, read_meta

__all__ = ["NEW_KEY", "Journal", "read_meta"]
