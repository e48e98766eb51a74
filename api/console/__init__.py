"""The sub-commands of ``headwater``, a family a module, each with its --help.

Imports that take long stay inside the functions that need them: ``headwater --help`` answers at
once. In reading order:

``call``           shared by all: a call with its settings, the running server, texts of --help
``serving``        ``headwater serve``, ``demo`` and ``doctor``
``configuration``  ``headwater config`` and ``observe``: how platforms, clients and jobs report here
``journal``        ``headwater journal``: list, export and import documents
``consuming``      ``headwater consume``: documents from a queue
``harvesting``     ``headwater harvest``: lineage from where SQL and schemas are kept
``forwarding``     ``headwater forward``: documents sent on to other lineage backends
``destinations``   where such documents go: the journal, or a running server
``backup``         ``headwater backup`` and ``restore``; the file of a backup
``projection``     ``headwater replay`` and ``rebuild``
``impact``         ``headwater impact``: everything downstream, and the effects of a change
``sql``            ``headwater sql``: the lineage of a file of SQL, without a server
``declarations``   ``headwater declare`` and the files that it reads
``governance``     what people state: tags, layers, rules of naming and quality, hidden things
``removal``        ``headwater forget`` and ``prune``, each with its dry run
``keys``           ``headwater keys``: API keys: make, list and revoke
``storage``        ``headwater storage``: disk space, its growth, the date when it is full
"""
