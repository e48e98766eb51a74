"""Spline's consumer API, as its UI calls it: routes, query strings, JSON.

In reading order:

``routes``   the routes, their errors and their values as JSON in Spline's spelling, for Spline's UI
             and for scripts written against it
``queries``  query strings with Spline's names and defaults, read as Spring reads them
"""
