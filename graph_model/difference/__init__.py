"""What changed: between two times, two executions, two plans, two schemas.

``schema``, ``graph``, ``plan``, ``history`` and ``causes`` are pure: values in, values out.
``questions`` gathers what they compare.
"""
