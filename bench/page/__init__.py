"""The page in a real Chromium: the times that a reader waits, and the bytes that it loads.

    python -m bench.page                     all of it, on an estate of its own
    python -m bench.page --url http://…      the first view of a running server

``first view``  over 10 Mbit/s and 80 ms, with an empty cache and with a full one: from the address
                to the page that says it is ready; bytes and requests on the wire
``paint``       a picture of 1,000 nodes and 1,500 edges: from the reply to the first paint, and the
                frames while it is dragged
``columns``     300 tables with 30 columns each, the same
``plan``        a plan of 300 operations with 20 columns each, the same
``handle``      a node of a picture of 200 opened where it stands: from the press to the paint
``memory``      the heap after each fifty of 200 openings

    python -m bench.page.crossings           edges that cross, beside dagre's and elk's layouts
    python -m bench.page.tasks --url http…   the clicks that the tasks of readers take
    python -m bench.page.documents --url …   an estate of 5,000 jobs and one of hostile names
    python -m bench.page.recording           records the Spark jobs of the page's sample anew

In reading order: ``estates`` (pictures as replies), ``measurement`` (the browser), ``__main__``,
``crossings`` with ``layouts.mjs`` (the same graphs by dagre and elk), ``tasks``,
``documents``, ``recording`` (the Spark jobs of the sample).
"""
