"""Ways to run Headwater elsewhere, and their proof.

``container``  the images, built and run without a container engine

Beside it: ``proxy`` (nginx, Caddy), ``compose`` and ``kubernetes`` (manifests).
"""
