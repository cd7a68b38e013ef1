# Two commands do all the set-up they need: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.core ## Run the shipped sample end to end (installs the core, no torch)
	@$(BIN)/hashnews demo

test: $(VENV)/.test ## Run all tests
	$(BIN)/pytest

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

clean: ## Remove the environment and everything made
	rm -rf $(VENV) build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("HashNews needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": set PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing HashNews ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing HashNews with what the tests need ..."
	@$(PIP) --editable '.[test]'
	@touch $@ $(VENV)/.core
