"""The process: parts started and stopped in order, its log, its checks before a start.

In reading order:

``server``      start of all parts, serving, stop of all parts
``storage``     the databases of journal and catalogue, and the locks on them
``readiness``   the state of the parts, for /status and /health
``governance``  statements of people, kept in memory until one changes
``upkeep``      work beside requests: retention at night, measurements of disk space
``room``        disk space: its use by part and by job, its growth, the date when it is full
``logs``        the log: lines for people or JSON for machines, on standard error, without secrets
``summary``     one log line for all documents that arrived in an interval
``refusals``    log lines about refused documents
``doctor``      a check of each requirement of a start; each finding has its remedy
``page``        the page's library, fetched by the integrity hash of its lock
``machine``     a check for Python, Java, Node and Chromium, before anything is installed
"""
