"""Reporting without a change of the job: a folder for the front of PYTHONPATH.

``sitecustomize``  what Python imports at its start: observes the first session of an application
"""
