# The same commands here and in CI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CACHE := $(VENV)/cache
export FOREBAY_CACHE_DIR := $(abspath $(CACHE))

.PHONY: run test lint bench constancy check-full clean

run: $(VENV)/installed ## set up, then compare queue policies on the embedded default workload
	$(BIN)/forebay compare

test: $(VENV)/dev lint ## lint, types, import contract; tests compiled, with the compiler off, and with bounds checks
	$(BIN)/forebay warmup
	$(BIN)/pytest -n 2 -m "not full"
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -m "small and not full"
	NUMBA_BOUNDSCHECK=1 FOREBAY_CACHE_DIR=$(abspath $(CACHE))-checked $(BIN)/forebay warmup
	NUMBA_BOUNDSCHECK=1 FOREBAY_CACHE_DIR=$(abspath $(CACHE))-checked $(BIN)/pytest -n 2 -m "small and not full"

lint: $(VENV)/dev
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/ruff format --check src tests examples benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed ## speed: figures for benchmarks/RESULTS.md
	$(BIN)/python benchmarks/bench.py

constancy: $(VENV)/dev ## store what runs give anew, where a change is meant to change results; needs FOREBAY_DATA
	$(BIN)/python tests/constancy/renew.py

check-full: $(VENV)/dev ## everything, the long proofs too
	$(BIN)/pip install --quiet --editable ".[dev,evalys,ortools,pymoo]"
	$(MAKE) test
	scripts/install-simgrid
	$(BIN)/pytest -n 2 -m "full"

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/dev: $(VENV)/python pyproject.toml
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
