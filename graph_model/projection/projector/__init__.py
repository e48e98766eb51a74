"""From the journal to graph and catalogue: the one writer of projections.

The unit of projection is a *subject*: all documents with one subject key, under any scope. The key
is Spline's plan id, or that of an OpenLineage run, job or dataset, of a declaration, of a command.
The facts of a subject are a function of the set of its documents, so the order of arrival is
irrelevant.

In the common case, a new event of a known plan, the projector translates that event alone (law 4 of
the design). When a plan document changes the former projection (a higher API version, another
body), the projector first writes the new facts, then withdraws those that nothing supports any more
(``projection.writing``).

In reading order:

``loop``               the thread: rounds (interrupted attempts, commands, a batch of subjects),
                       steps of a rebuild, calls from other threads
``subject_projector``  the new documents of some subjects, projected together
``large_subjects``     a large subject is translated on a thread of its own, and the rounds go on
``commits``            the writes of a projection, in an order that survives a crash, without
                       elements that the stores hold already
``commands``           carries out forget and prune commands
``rules``              its stores, the naming rules in force and those for the next rebuild, the
                       effect of the commands in force
``rebuild_control``    starts a rebuild, and decides which of several processes runs it; checks
                       before the first round that journal, catalogue and graph match
``readiness``          whether the projector is ready, and the graph still whole; clients
                       that wait until certain documents are projected
"""

from graph_model.projection.projector.commits import WRITER_KEY
from graph_model.projection.projector.large_subjects import LARGE_SUBJECT_THREAD
from graph_model.projection.projector.loop import Projector
from graph_model.projection.projector.rules import COMMANDS_KEY, EPOCH_KEY, FROM_NOTHING

__all__ = [
    "COMMANDS_KEY",
    "EPOCH_KEY",
    "FROM_NOTHING",
    "LARGE_SUBJECT_THREAD",
    "WRITER_KEY",
    "Projector",
]
