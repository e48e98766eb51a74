"""A year in small: does anything cost more because the service has lived?

    make endurance                                       5,000 jobs, 1,000,000 runs: some hours
    make endurance ARGS=--short                          500 jobs, 50,000 runs: some minutes
    make endurance ARGS="--seed 7 --rhythms hourly=5,daily=95 --kill"

A real service with its embedded engine is started as a user starts it, and gets the runs of an
estate as fast as it takes them: hourly, daily and weekly jobs in ten layers, schemas that change,
tables that are renamed, runs that fail, Spline's agent, OpenLineage and both at once. Every 50,000
runs (``--every``) everything is projected, then measured: CPU a run, the time of questions, heap,
memory, disk, the time of a start.

The state is a folder: a call that was broken off goes on where it was measured last.

In reading order:

``rhythms``       how often jobs run: the text of ``--rhythms``
``year``          the runs, by number: pure, the same for the same seed
``documents``     a run -> the documents that agents send of it
``clients``       processes that send a range of runs and do not give up
``questions``     the questions at each sample, and how long they took
``samples``       the measurements, and the file that keeps them
``measurement``   sends, kills, measures
``lost``          acknowledged documents that are not in the journal
``picture``       the curves, as SVG
``report``        the table
"""
