"""The journal: documents as they came, durable before the client is answered.

It knows documents as bytes with a kind, a scope and a state, never their content. In reading
order:

``journal``          SqlJournal: the journal of ``protocols`` in a relational database
``questions``        the questions to the journal: a class for each protocol, beside its SQL
``tables``           the tables of the journal
``content``          how a body is stored and verified by its hash
``vocabulary``       words of all producers' documents, against which bodies are compressed
``arrivals``         new documents, repeats and states: many requests in one transaction
``large_bodies``     large bodies outside of the database, and the row that each has
``bodies``           bodies from the database: each verified; a damaged one does not stop the others
``document_states``  states of documents, and their removal
``statistics``       counts, the age of waiting documents, the size on disk
``intake_check``     whether the journal takes documents now: the last one's result, or an attempt
``integrity``        a check of the whole journal: each body inflated and hashed, each row compared
``archive``          the journal as lines of text, from any database into any database
"""

from graph_model.stores.journal.journal import SqlJournal, read_meta

__all__ = ["SqlJournal", "read_meta"]
