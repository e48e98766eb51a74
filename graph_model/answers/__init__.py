"""One module for each question of the read routes: stores in, frozen values and their JSON out.

``to_json`` of ``picture.json_form`` writes most values field by field; where a reply differs, the
module of its question has the ``..._reply``. Routes and notebooks call these functions, so both get
the same answer. A question takes ``Sources``, built once a request, and the client's parameters.
In reading order:

``sources``             the stores and rules of one request; node references -> node ids
``nodes``               which hidden nodes a question opens; the layers and tags of a picture; rows
                        and names that several answers show, executions among them
``facets``              facets of jobs and datasets at a time: owners, code, versions, quality
``home``                the first page, the map, all runs; incidents: failures, odd writes
``overview``            all jobs and tables, and their totals
``search``              nodes and runs by name, owner, tag, description, error, id or path
``lineage``             the neighbourhood of a dataset, a job or a column; columns across jobs
``jobs``                jobs, and one job with its logical plans
``runs``                the runs of a job, one run, the tree of a run
``datasets``            datasets, and one dataset with its schema, writers, readers and names
``dataset_writes``      the history of a dataset, and its last writer
``columns``             all columns, and one column with its definition in words
``plans``               one plan: its operations, its column edges
``classifications``     tags, and the columns of a class, on the way of its data along columns
``counts``              runs, jobs, datasets and namespaces by hour or day
``impact``              everything downstream as a table; the effects of a changed column or plan
``difference``          changes between two times, executions, plans or schemas
``consumer``            what only Spline's consumer API asks: executions, columns inside a plan
``openlineage_reports`` plans and facets that OpenLineage's events report, in the words of pages
``openlineage``         OpenLineage's (namespace, name) pairs; its events as they were received
``openlineage_nodes``   datasets, jobs and runs by these pairs, many at once
"""
