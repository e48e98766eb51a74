"""The process: parts started and stopped in order, checks before a start.

In reading order:

``server``       start of all parts, serving, stop of all parts
``connections``  the HTTP server, and which connections it keeps
``storage``      the databases of journal and catalogue, and the locks on them
``upkeep``       work beside requests: retention at night, measurements, the line of arrivals
``doctor``       a check of each requirement of a start; each finding has its remedy
``machine``      a check for Python, Java, Node, Chromium and a server, before anything is installed
``page``         the page's library, fetched by the integrity hash of its lock
"""
