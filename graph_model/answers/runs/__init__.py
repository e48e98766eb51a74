"""Questions about runs of a job: ``pages`` (the list, one run)."""
