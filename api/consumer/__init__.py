"""Spline's consumer API, as its UI calls it: routes, query strings, JSON.

In reading order:

``routes``   the routes, for Spline's UI and for scripts written against it
``queries``  query strings with Spline's names and defaults, read as Spring reads them
``replies``  values of the consumer API -> JSON in Spline's spelling
``errors``   errors in the form that Spline's viewers expect
``probes``   Spline's version and its deployment probes
"""
