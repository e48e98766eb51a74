"""One module for each question of the read routes: stores in, frozen values out.

Routes and notebooks call these functions, so both get the same answer. A question takes
``Sources``, built once a request, and the client's parameters. In reading order:

``sources``         the stores and rules of one request, as one value
``visibility``      which hidden nodes a question opens; the layers and tags of a picture
``references``      node references as clients write them -> node ids
``nodes``           rows and names of nodes that several answers show
``executions``      one execution as lists and pages show it
``facets``          facets of jobs and datasets at a time: owners, code, versions, quality
``drawing``         an answer of ``graph_model.lineage`` with names, times and places
``home``            the first page: failures, lateness, last writes, the map
``overview``        ``/graph/overview``: all jobs and tables, and their totals
``lineage``         ``/graph/lineage``: the neighbourhood of a dataset, a job or a column
``column_lineage``  ``/graph/column-lineage``: columns across jobs, the expression at every hop
``search``          ``/graph/search``: datasets, jobs and columns by name
``jobs``            ``/graph/jobs``: jobs, and one job with its logical plans
``runs``            the runs of a job, one run, the tree of a run
``datasets``        datasets, one dataset, its history, its last writer
``columns``         one column, and its definition in words
``plans``           one plan: its operations, its column edges
``classifications`` ``/classifications``: tags, and the columns of a class
``impact``          everything downstream as a table; the effects of a changed column or plan
``openlineage``     plans, runs and facets that OpenLineage's events report
``difference``      changes between two times, executions, plans or schemas
``consumer``        Spline's consumer API: the same lineage in the form that Spline's UI requests
"""
