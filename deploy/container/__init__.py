"""The images, built and run without a container engine.

``instructions``  the Dockerfile as stages, and the files of its context
``empty_root``    executes a stage in an empty root: RUN, COPY, ENV, WORKDIR
``proof``         both images, then the service on a read-only root (``make container``)
"""
