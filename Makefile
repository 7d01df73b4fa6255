PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help train evaluate ladder test fuzz test-min coverage mutants lint bench bench-training docs site notebooks interop ecosystem

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-16s%s\n", $$1, $$2}' Makefile

train: .venv/installed  ## train a first agent and print its table
	$(BIN)/python train.py

evaluate: .venv/installed  ## measure the champion and the bots against each other
	$(BIN)/python evaluate.py

ladder: .venv/installed  ## play docs/ladder.md again, with AGENTS="path …" on top; hours
	$(BIN)/python scripts/ladder.py $(AGENTS)

test: .venv/installed  ## run the whole test suite, notebooks included
	$(BIN)/python -m pytest

fuzz: .venv/installed  ## look for wrong answers to wrong arguments, for FUZZ_SECONDS (600)
	FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(BIN)/python -m pytest tests/test_fuzz.py --hypothesis-profile long

test-min: .venv-min/installed  ## the environment's tests with the oldest packages it may have
	NUMBA_CACHE_DIR=.venv-min/kernels .venv-min/bin/python -m pytest -o addopts= -m "not slow" \
		$(addprefix tests/test_,$(addsuffix .py,$(MIN_TESTS)))

MIN_TESTS := aec bots cards clauses engine kernels layout record rules rules_refused seat tables

coverage: .venv/installed  ## line coverage of both packages; fails where it is too low
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest tests -m "not slow"
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest $(PLAIN_TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --include="envs/black_maria/*" --fail-under=97
	$(BIN)/coverage report --include="agents/black_maria_agents/*" --fail-under=93

PLAIN_TESTS := tests/test_clauses.py tests/test_ppo_sums.py \
	-m "not slow" -k "not replayed and not in_matches and not thousands and not uniform"

mutants: .venv/installed  ## break the code line by line: a test must notice; an hour or more
	$(BIN)/python scripts/mutants.py

lint: .venv/installed  ## check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: .venv/installed-bench  ## time us and our peers, write docs/benchmarks.md; 10 minutes
	$(BIN)/python benchmarks/bench_all.py

bench-training: .venv-sb3/installed  ## the trainer beside MaskablePPO
	.venv-sb3/bin/python benchmarks/bench_training.py

docs: .venv/installed  ## write the generated pages again
	$(BIN)/python scripts/docs.py

site: .venv-site/installed  ## build the site into build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --strict --quiet

notebooks: .venv/installed  ## execute the notebooks in place, outputs kept
	$(BIN)/python -m pytest --nbmake --overwrite notebooks

interop: .venv/installed  ## train with other learners, where make .venv-NAME/installed was run
	$(BIN)/python -m pytest -m interop -rs

ecosystem: .venv/installed  ## the same, and write what came out into docs/ecosystem.md
	$(BIN)/python scripts/ecosystem.py $(LEARNERS)
	$(BIN)/python scripts/docs.py

.venv-%/installed: examples/requirements/%.txt pyproject.toml
	test -d .venv-$* || $(PYTHON) -m venv .venv-$*
	.venv-$*/bin/pip install --quiet --disable-pip-version-check --no-compile torch==2.13.0
	.venv-$*/bin/pip install --quiet --disable-pip-version-check --no-compile \
		--editable ".[agents]" -r $<
	touch $@

.venv/installed: pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(INSTALL) torch
	$(INSTALL) --editable ".[dev]"
	$(BIN)/python -m black_maria.warm
	touch $@

.venv-site/installed: pyproject.toml constraints.txt
	test -d .venv-site || $(PYTHON) -m venv .venv-site
	.venv-site/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable ".[site]"
	touch $@

.venv-min/installed: pyproject.toml constraints-min.txt
	test -d .venv-min || $(PYTHON) -m venv .venv-min
	.venv-min/bin/pip install --quiet --disable-pip-version-check --constraint constraints-min.txt \
		--editable . pytest hypothesis
	touch $@

.venv/installed-bench: .venv/installed
	$(INSTALL) --editable ".[bench]"
	touch $@
