# ontrack: everything that is run by hand. `make` lists it; only Python 3.11 or newer is needed beforehand.

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench torture e2e-airflow lock clean .venv

PY := .venv/bin/python
CHECKED = $(wildcard bot handlers storage bench tests)

help: ## list the targets
	@awk -F ':.*## ' '/^[.a-z0-9-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

demo: .venv ## run the product in a sandbox workspace in the browser
	@$(PY) -m bot demo

test: lint ## run every check: the lint, then all tests
	@$(PY) -m pytest -n logical

lint: .venv ## check style, types and import layers
	@.venv/bin/ruff check --quiet .
	@.venv/bin/ruff format --check --quiet .
	@$(PY) -m mypy --no-error-summary $(CHECKED)
	@.venv/bin/lint-imports >.venv/lint-imports.log 2>&1 || { cat .venv/lint-imports.log; exit 1; }

bench: .venv ## measure; one JSON line a figure on standard output
	@$(PY) -m bench

KILLS ?= 200
DB ?= sqlite
torture: .venv ## kill the service at random moments: make torture KILLS=200 [DB=sqlite|postgresql] [SPLIT=1]
	@$(PY) -m tests.kills.torture --kills $(KILLS) --db $(if $(SPLIT),postgresql,$(DB)) $(if $(SPLIT),--split)

e2e-airflow: .venv .airflow/lock.txt ## play against a real Airflow 3 on loopback (about ten minutes; sets up .airflow)
	@$(PY) -m pytest -v -x --timeout 900 tests/e2e_airflow/play.py

.airflow/lock.txt: tests/e2e_airflow/requirements.txt | .venv
	@if cmp -s $< $@; then touch $@; exit 0; fi; \
	echo 'Setting up .airflow (once, about a minute)' >&2; \
	$(PY) -m venv --clear .airflow && \
	.airflow/bin/python -m pip install -qq --disable-pip-version-check --no-input --no-deps -r $< && \
	cp $< $@

lock: ## renew requirements/*.txt from requirements/*.in (needs uv)
	@cd requirements && for name in runtime dev; do \
	  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	    $$name.in --output-file $$name.txt || exit 1; done

clean: ## remove .venv and every cache
	@rm -rf .airflow .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv: .venv/lock.txt ## set up .venv when it is missing or stale
	@:

# The copy of the lock is written last: without it a set-up was interrupted and begins anew. The same lock only
# needs a new date. An interpreter that went away (a dangling link) makes it stale as well.
.venv/lock.txt: requirements/dev.txt pyproject.toml .venv/bin/python
	@found=; if cmp -s requirements/dev.txt $@ && $(PY) -c '' 2>/dev/null; then touch $@; exit 0; fi; \
	for python in $(PYTHON) python3.11 python3; do \
	  if $$python -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo 'ontrack needs Python 3.11 or newer with its venv module: install it, or name it: make PYTHON=/path/to/python3' >&2; \
	  exit 1; \
	fi; \
	echo 'Setting up .venv (once, about half a minute)' >&2; \
	$$found -m venv --clear .venv && \
	$(PY) -m pip install -qq --disable-pip-version-check --no-input --no-deps --require-hashes --only-binary :all: \
	  -r requirements/dev.txt && \
	cp requirements/dev.txt $@

.venv/bin/python:
