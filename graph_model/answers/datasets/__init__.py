"""Questions about datasets: ``pages`` (the list, one dataset), ``history``, ``last_writer``."""
