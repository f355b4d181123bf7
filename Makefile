# make demo | test | check | test-peers | bench | docs | wheel. Everything runs in .venv; PYTHON chooses the interpreter that makes it.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
KERNEL := $(wildcard src/kernel/*.hpp src/kernel/*.cpp) CMakeLists.txt pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo test check test-peers bench docs wheel clean

help: ## the targets and what they do
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "idealrank needs Python 3.11 or newer; found: $$($(PYTHON) --version). Try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Editable for the Python part; the kernel is rebuilt when its sources change.
$(VENV)/.installed: $(VENV)/.created $(KERNEL)
	@echo "installing idealrank into $(VENV) (builds the kernel once) ..."
	$(PIP) install --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	$(PIP) install --editable '.[test]'
	@touch $@

demo: $(VENV)/.installed ## evaluate two real rankers side by side
	@$(BIN)/idealrank evaluate examples/pydocs/qrels.txt examples/pydocs/bm25.run examples/pydocs/minilm.run

test: $(VENV)/.test ## the default test suite
	$(BIN)/python -m pytest

clean: ## remove what the targets made
	rm -rf $(VENV) build dist
