"""The sub-commands of ``headwater``, a family a module, each with its --help.

Imports that take long stay inside the functions that need them: ``headwater --help`` answers at
once. In reading order:

``call``           shared by all: a call with its settings, the running server, texts of --help
``serving``        ``headwater serve``, ``demo`` and ``doctor``
``configuration``  ``headwater config`` and ``observe``: how platforms, clients and jobs report here
``journal``        ``headwater journal``: list, export and import documents; ``replay``, ``rebuild``
``collecting``     ``headwater consume`` and ``harvest``: documents from queues, lineage from where
                   SQL and schemas are kept
``forwarding``     ``headwater forward``: documents sent on to other lineage backends
``intake``         where such documents go: the journal, or a running server
``lineage``        ``headwater impact``: everything downstream, the effects of a change;
                   ``sql``: the lineage of a file of SQL, without a server
``declarations``   ``headwater declare`` and the files that it reads
``governance``     what people state: tags, layers, rules of naming and quality, hidden things
``keys``           ``headwater keys``: API keys: make, list and revoke
``storage``        what is kept: ``headwater storage``, ``forget`` and ``prune``, each with its
                   dry run, ``backup`` and ``restore``
"""
