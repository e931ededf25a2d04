# The same commands here and in CI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Where kernels run: what reads, writes and draws is the same with the compiler off.
KERNELS := $(addprefix tests/,_numba algorithms constancy contract core engine policies testing twins)

# With the compiler off NumPy checks each index. Algorithms, which allocate, are compiled with bounds checks, and so is
# what only compiled code does. The rest of the above would compile every policy once more: it is for the full run. So
# are algorithms compiled without these checks, but for what engine and policies take in of them.
CHECKED := tests/algorithms $(patsubst %,tests/_numba/test_%.py,from_zero move narrow ones pointer)

# Where Python may keep no bytecode, each process that a test starts takes 5.6 s to import forebay's engine, not 1.6.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test quick lint docs dist bench constancy check-full clean

run: $(VENV)/installed ## set up, then compare queue policies on the embedded default workload
	$(BIN)/forebay compare

test: $(VENV)/dev ## lint, types, import contract, docs; tests compiled, with the compiler off, and with bounds checks
	$(MAKE) -j2 lint docs
	$(BIN)/forebay warmup
	$(BIN)/pytest -n 2 --dist worksteal -m "not full" --ignore tests/algorithms
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 --dist worksteal -m "small and not full" $(KERNELS)
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 --dist worksteal -m "not full" $(CHECKED)

quick: $(VENV)/dev ## while you work: lint, and tests of what has changed, with the compiler off
	$(BIN)/python scripts/quick.py

lint: $(VENV)/dev
	$(BIN)/ruff check src tests examples benchmarks scripts docs/conf.py
	$(BIN)/ruff format --check src tests examples benchmarks scripts docs/conf.py
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/dev ## the documentation site, into site/; any warning fails
	$(BIN)/python scripts/build_site.py site

dist: $(VENV)/python ## a release, into dist/: built, checked, and tried in empty environments
	$(BIN)/pip install --quiet --editable ".[release]"
	$(BIN)/python scripts/build_release.py

bench: $(VENV)/installed ## speed: figures for benchmarks/RESULTS.md
	$(BIN)/python benchmarks/bench.py

constancy: $(VENV)/dev ## store what runs give anew, where a change is meant to change results; needs FOREBAY_DATA
	$(BIN)/python tests/constancy/renew.py

check-full: $(VENV)/dev ## everything, the long proofs too
	$(BIN)/pip install --quiet --editable ".[dev,docs,evalys,ortools,pymoo,browser]"
	$(MAKE) test
	scripts/install-simgrid
	scripts/install-chromium
	$(BIN)/pytest -n 2 --dist worksteal -m "full" --ignore tests/fuzz/test_commands.py
	$(BIN)/pytest -n 2 --dist worksteal -m "not full" tests/algorithms
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 --dist worksteal -m "full" tests/fuzz/test_commands.py
	$(BIN)/pytest -n 2 --dist worksteal -m "hypothesis and not full" --hypothesis-profile=full
	NUMBA_BOUNDSCHECK=1 $(BIN)/forebay warmup
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 --dist worksteal -m "small and not full" $(filter-out $(CHECKED),$(KERNELS))

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	touch $@

# Python compiles what it imports, when it does; to compile everything takes pip a third of its time.
$(VENV)/installed: $(VENV)/python pyproject.toml
	$(BIN)/pip install --quiet --no-compile --editable .
	touch $@

$(VENV)/dev: $(VENV)/python pyproject.toml
	$(BIN)/pip install --quiet --no-compile --editable ".[dev,docs]"
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
