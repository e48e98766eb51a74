"""Spline's execution plans and events -> facts. Pure: no I/O, no clock, no environment.

    facts of a subject = translate_plan(plan) + the sum of translate_execution(head, event)

A subject is one plan with its executions, as one capture scope reported it. The steps:

1. name the datasets (naming), the job, the mode and the partitions of the write;
2. derive the columns (column_derivation) and render the operations (expressions), with volatile
   text and date-like literals masked, so that tomorrow's run of the same logic reads the same;
3. gather all of it in one value, :class:`Logic`. Its digest is the fingerprint, so whatever the
   graph says of a logical plan is covered by the plan's id: law 2 of the design holds by
   construction;
4. spell the Logic as vertices, edges and rows.

The fingerprint leaves out all that may change while the logic stays: ids, times, the application's
name, labels, the write command's class and path, statistics, session counters.

In reading order:

``producer``     the producer of Spline's documents: journalled, and the subject of one plan id
``documents``    plans and events in one normal form, whatever the wire version
``lifting``      Spline producer API 1 as API 1.2, so that one reader serves both
``plan_logic``   the logic of a plan, without times, people and ids
``expressions``  the definitions of a plan's attributes and expressions, and their text
``column_derivation``
                 column lineage inside one plan: the read columns behind each written column, down
                 to fields of written structs, and the influences on its rows
``column_values``
                 values of attributes and expressions: the read columns behind each, by how they
                 flow
``tables``       partitions that a write replaces; names, versions of tables; those of a JDBC query
``plans``        the facts of a plan without its executions (step 4), within bounds
``executions``   the facts of one execution: O(1) elements, none shared by all runs of a job
``gathering``    the documents of a plan id that belong together: pure
``inspection``   the fine view of one plan: operations, schemas, expressions from its document
"""

from __future__ import annotations

from typing import Final

#: Part of the projection epoch: raise it when equal documents give other facts.
TRANSLATOR_VERSION: Final = 29
