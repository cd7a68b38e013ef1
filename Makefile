# These commands do all the set-up they need: `make demo`, `make test-fast` and `make test`.
SHELL       := bash
.SHELLFLAGS := -eo pipefail -c
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# What is imported is compiled when it is first imported, not all that is installed: that takes
# a third of the time. So bytecode must be kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --no-compile --progress-bar off --constraint constraints.txt
# A dot for each package, a word for each step: what takes minutes shows that it lives.
SHOW   := awk '/^ *(Collecting|Requirement|Downloading)/ {printf "."; fflush()} /^Installing coll/ {printf " unpacking ..."; fflush()} END {print " done"}'

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast say-test say-test-fast lint format bench docs dist clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.core ## Run the shipped sample end to end (installs the core and the page, no torch)
	@$(BIN)/hashnews demo

test: say-test $(VENV)/.test ## Run all tests
	$(BIN)/pytest

say-test:
	@echo "make test installs all optional parts (torch and Ray among them: the first time some minutes and"
	@echo "2.7 GB), then runs every test: about 20 minutes on two cores. make test-fast takes 2 minutes."

test-fast: say-test-fast $(VENV)/.fast ## Run the quick tests alone (needs neither torch, Ray nor a browser)
	$(BIN)/pytest -m "not slow"

say-test-fast:
	@echo "make test-fast installs the core (the first time a minute or two), then runs the quick tests:"
	@echo "about 2 minutes of processor time. make test runs all."

lint: $(VENV)/.test ## Check format, style, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.test ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.test ## Measure quality and speed on the measuring data (DATA=../shared/data)
	$(BIN)/python benchmarks/text.py $(or $(DATA),../shared/data)
	$(BIN)/python benchmarks/entities.py $(or $(DATA),../shared/data)
	$(BIN)/python benchmarks/store.py add $(or $(DATA),../shared/data)/2020/news.jsonl.gz

docs: $(VENV)/.docs ## Build the site of the docs into out/site; any warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "see out/site/index.html; with search, which browsers refuse to a file, run:"
	@echo "  python3 -m http.server --bind 127.0.0.1 --directory out/site 8001"

dist: $(VENV)/.docs ## Build wheel and source archive into dist/ and check them
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*

clean: ## Remove the environment and everything made
	rm -rf $(VENV) build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("HashNews needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": set PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	-@$(PIP) --quiet --upgrade pip  # an old one takes six seconds longer, and warns for nothing

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@printf "Installing HashNews "
	@$(PIP) --editable '.[serve]' | $(SHOW)
	@touch $@

$(VENV)/.fast: pyproject.toml constraints.txt | $(BIN)/python
	@printf "Installing HashNews, pytest and hypothesis "
	@$(PIP) --editable . hypothesis pytest | $(SHOW)
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	@printf "Installing HashNews with all that the tests need "
	@$(PIP) --editable '.[test]' | $(SHOW)
	@touch $@ $(VENV)/.core $(VENV)/.fast

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	@printf "Installing what builds the docs and the package "
	@$(PIP) --editable '.[docs]' | $(SHOW)
	@touch $@
