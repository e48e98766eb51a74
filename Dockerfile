# Two images of one build:
#
#   docker build --tag headwater .                  the service with its embedded engine
#   docker build --tag headwater-aws --target aws . no Java: for a graph of your own, ECS and Lambda
#
# Each runs as the user 10001 on a read-only root; /data is the one place that is written.
# docs/deploy-containers.md has the ways to run them. To pin a digest, or to take a mirror:
# --build-arg PYTHON_IMAGE=python@sha256:...
ARG PYTHON_IMAGE=python:3.13-slim-trixie

# --- packages of Python, the page, the wheel --------------------------------------------------------
FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_NO_INPUT=1
WORKDIR /build
RUN python -m venv tools \
 && python -m venv --without-pip /opt/headwater
COPY requirements/build.txt requirements/container.txt requirements/
RUN tools/bin/pip install --require-hashes -r requirements/build.txt \
 && tools/bin/pip --python /opt/headwater/bin/python install \
      --require-hashes --only-binary :all: -r requirements/container.txt
COPY . .
RUN /opt/headwater/bin/python -m api.serving.page \
 && tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
 && tools/bin/pip --python /opt/headwater/bin/python install --no-deps dist/*.whl

# --- Java and the archives of the engine ------------------------------------------------------------
FROM build AS build-engine
RUN tools/bin/pip --python /opt/headwater/bin/python install \
      --require-hashes --only-binary :all: -r requirements/java.txt \
 && HEADWATER_CACHE=/opt/headwater/cache /opt/headwater/bin/headwater fetch

# --- Lambda's runtime interface ---------------------------------------------------------------------
FROM build AS build-aws
RUN tools/bin/pip --python /opt/headwater/bin/python install \
      --require-hashes --only-binary :all: -r requirements/lambda.txt

# --- the base of both images ---------------------------------------------------------------------------
FROM ${PYTHON_IMAGE} AS base
RUN groupadd --gid 10001 headwater \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin headwater \
 && install --directory --owner=10001 --group=10001 --mode=0750 /data
# TMPDIR: bodies that are too large for memory go to the volume, for nothing else can be written.
ENV PATH=/opt/headwater/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    TMPDIR=/data \
    HEADWATER_HOST=0.0.0.0 \
    HEADWATER_DATA=/data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=90s --retries=4 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health/live', timeout=4)"]
ENTRYPOINT ["headwater"]
CMD ["serve"]

# --- the image for a graph of your own --------------------------------------------------------------
FROM base AS aws
# Connections to Aurora verify its certificate. AWS adds authorities to this file: no checksum.
# On Lambda another user runs this, and cannot enter /data: modules/functions names /tmp instead.
ADD --chmod=0444 https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem /etc/ssl/certs/rds-global-bundle.pem
COPY --from=build-aws /opt/headwater /opt/headwater
VOLUME /data
USER 10001:10001

# --- the image with the engine, which is built where no target is named -----------------------------
FROM base AS service
COPY --from=build-engine /opt/headwater /opt/headwater
# Half of the container's memory is the engine's heap.
ENV HEADWATER_CACHE=/opt/headwater/cache \
    HEADWATER_GREMLIN_HEAP=auto
VOLUME /data
USER 10001:10001
