"""Which runs the graph carries: a window over the executions of the catalogue.

In reading order:

``window``        the setting: none, the newest few of each job, some days, all
``wanted_runs``   which executions the window wants, read from the catalogue
``keeping``       making the graph carry the wanted runs, beside those it has, and nothing beyond
``carried_runs``  the journal's note of which runs the graph carries
``estimate``      how many elements runs take under each setting
``graph_runs``    the runs of one projector's graph: with each commit, and after another setting,
                  in steps that are taken again where they fail
"""
