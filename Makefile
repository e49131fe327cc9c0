# Everything lands in .venv/; nothing else on the machine is touched.
PYTHON ?= python3
BIN := .venv/bin
UV := .venv/bootstrap/bin/uv
# Tried with uv's own certificates first, then with the system's, as behind a proxy that signs for others.
SYNC := $(UV) sync --quiet --locked --compile-bytecode

# Tests start Python many hundred times: what it has compiled is kept.
unexport PYTHONDONTWRITEBYTECODE
# What tests write lies in memory where there is room for it: nothing waits for a disk.
MEMORY := $(shell test -w /dev/shm && test "$$(df --output=avail /dev/shm | tail -n 1)" -gt 4000000 && echo /dev/shm)
PYTEST := $(if $(MEMORY),PYTEST_DEBUG_TEMPROOT=$(MEMORY) )$(BIN)/pytest -q -n 3 --dist worksteal

.PHONY: help setup demo test test-all check format bench docs clean

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

setup: .venv/ready ## the environment, complete, in .venv/

# pip --target needs neither ensurepip nor a virtual environment to exist, so a bare python3 + pip is enough.
.venv/ready: pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Brasstag needs Python 3.11 or newer")'
	@mkdir -p .venv
	@test -x $(UV) || PIP_ROOT_USER_ACTION=ignore $(PYTHON) -m pip install --quiet --disable-pip-version-check --target .venv/bootstrap uv
	@test -x $(BIN)/python || $(UV) venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv
	@$(SYNC) 2>/dev/null || $(SYNC) --system-certs
	@scripts/bubblewrap.sh
	@touch $@

demo: setup ## a crew at work on a script: who works for whom, a question, an approval, the proof
	@$(BIN)/brasstag demo

test: setup ## the suite, in a few minutes: every law, briefly
	@scripts/bubblewrap.sh
	@scripts/postgres.sh
	@scripts/chromium.sh
	@$(if $(MEMORY),TMPDIR=$(MEMORY) )$(PYTEST) -m "not slow" --hypothesis-profile=quick

test-all: test ## the suite, then what takes long: every law at length, storms of kills, whole corpora
	@$(PYTEST) -m "slow or hypothesis" --hypothesis-profile=thorough

check: setup ## format, lint, types, import rules, generated docs
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/brasstag tools docs --check
	@$(BIN)/python scripts/package_docs.py --check

format: setup ## rewrite to the house format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: setup ## rewrite the generated pages
	@$(BIN)/brasstag tools docs
	@$(BIN)/python scripts/package_docs.py

bench: setup ## ratios against peers and raw commits, side by side
	@$(SYNC) --group bench 2>/dev/null || $(SYNC) --group bench --system-certs
	@$(BIN)/python bench/run.py

clean: ## remove the environment and caches
	rm -rf .venv .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
