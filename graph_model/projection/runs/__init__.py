"""Which runs the graph carries: a window over the executions of the catalogue.

In reading order:

``window``        the setting: none, the newest few of each job, some days, all; its note in the
                  journal
``keeping``       making the graph carry the runs that the window wants, and nothing beyond; how
                  many elements each setting takes
``graph_runs``    the runs of one projector's graph: with each commit, and after another setting,
                  in steps that are taken again where they fail
"""
