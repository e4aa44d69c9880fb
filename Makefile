# astjit in two commands: `make demo` and `make test`. `make help` lists the rest.

# The first Python >= 3.11 that runs; PYTHON=/path/to/python chooses another.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

# With no NVIDIA driver this requirement is installed before anything else. Set TORCH to choose
# another build or version (TORCH='torch==2.14.1'); an empty one leaves the choice to pip.
DRIVER := $(shell { nvidia-smi >/dev/null 2>&1 || test -e /proc/driver/nvidia/version; } && echo yes)
ifeq ($(DRIVER),)
TORCH ?= torch==2.13.0
endif

JOBS ?= 2
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test corpus lint clean FORCE

help: ## list these commands
	@echo "variables: PYTHON, TORCH (a requirement such as torch==2.13.0), JOBS, ARGS (for pytest, corpus)"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.installed ## run examples/quickstart.py in .venv, made on the way
	@$(BIN)/python examples/quickstart.py

test: $(VENV)/.tested ## run the tests; ARGS='-m "not slow"' is the quick round
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

corpus: $(VENV)/.tested ## compile models of transformers and of plain PyTorch; ARGS=--quick, or names
	@$(BIN)/python benchmarks/corpus.py $(ARGS)

lint: $(VENV)/.tested ## ruff (rules and format) and mypy --strict
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

clean: ## remove .venv, builds and caches
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Stamps: each step runs again only when what it depends on has changed.

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: no Python >= 3.11 found; set PYTHON" >&2; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Rewritten only when TORCH is another one than last time, so that what follows stays up to date.
$(VENV)/.torch: $(BIN)/python FORCE
	@echo '$(TORCH)' | cmp -s - $@ || { \
		if [ -n '$(TORCH)' ]; then echo 'installing $(TORCH)'; $(PIP) install '$(TORCH)' || exit 1; fi; \
		echo '$(TORCH)' > $@; }

$(VENV)/.installed: pyproject.toml $(VENV)/.torch
	@echo "installing astjit"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	@echo "installing the tools of the tests"
	@$(PIP) install --editable '.[test]'
	@touch $@
