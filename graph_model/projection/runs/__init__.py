"""Which runs the graph carries: a window over the executions of the catalogue.

In reading order:

``window``        the setting: none, the newest few of each job, some days, all; the journal's note
                  of which runs the graph carries
``keeping``       making the graph carry the wanted runs, beside those it has, and nothing beyond;
                  which executions the window wants, read from the catalogue; how many elements runs
                  take under each setting
``graph_runs``    the runs of one projector's graph: with each commit, and after another setting,
                  in steps that are taken again where they fail
"""
