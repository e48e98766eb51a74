"""Journal documents -> the elements that the stores must hold, and the projector that writes them.

In reading order:

``projector``       the one writer of graph and catalogue, a package of its own
``attempts``        the keys of a round, noted in the journal before the round begins; a subject
                    with many events, a bounded number of them at a time
``writing``         facts go to graph and catalogue, in the order that the graph needs, and are
                    removed when no document supports them any more
``fullness``        how full an in-memory graph is, and which documents wait until there is room
``rebuilding``      a projection of everything beside the one in force: after an upgrade, a new
                    rule, or on request

The runs that the graph carries, a window over the executions of the catalogue:

``run_window``      the setting: none, the newest few of each job; its note in the journal
``kept_runs``       making the graph carry the runs that the window wants, and nothing beyond; how
                    many elements each setting takes
``graph_runs``      the runs of one projector's graph: with each commit, and after another setting,
                    in steps that are taken again where they fail
"""
