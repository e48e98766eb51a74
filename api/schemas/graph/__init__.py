"""Queries and replies of the graph's routes.

In reading order:

``queries``     query strings of the graph's routes
``reply``       shapes of the graph's replies, for the OpenAPI document
``runs``        queries and replies about runs and facets
``impact``      query strings of the impact routes, and the shapes of their replies
``difference``  queries and replies of differences between times, executions and plans; versions
"""
