"""Ways to run Headwater elsewhere, and their proof.

``container``        the images, built and run without a container engine
``engine_archives``  the lock file of the embedded engine's archives, resolved anew

Beside it: ``proxy`` (nginx, Caddy), ``compose`` and ``kubernetes`` (manifests).
"""
