# Every command of the book. `make` alone lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash

PY          ?= python3#   Python 3.11 or newer, used once to make the environment
VENV        ?= .venv#     where the environment goes
JOBS        ?=#           how many notebooks run at once (default: one per core)
FORCE       ?=#           FORCE=1 executes fresh notebooks as well
SEEDS       ?=#           other seeds under which verdicts are computed again
NB          ?=#           the notebooks meant (default: all)
COURSE      ?= _build/course#  the folder of the course: student versions, gradebook, feedback
ASSIGNMENT  ?=#           the assignments to release (default: all)
SUBMITTED   ?=#           a folder of notebooks that were handed in
MARKS       ?=#           a filled marks.csv
ROOM        ?=#           the room of the library whose code is changed (default: all)
COUNT       ?=#           how many changes (default: 200)
SEED        ?=#           which changes are drawn (default: 1)
TORCH_INDEX ?=#           index of PyTorch's wheels, to choose the small CPU-only one
UV_VERSION  := 0.13.8

BIN   := $(VENV)/bin
READY := $(VENV)/.ready
TORCH := $(shell sed -n 's/.*"\(torch==[^"]*\)".*/\1/p' pyproject.toml)
CODE  := lib tests tools benchmarks book/extensions course

# What makes an execution repeatable: fixed dates and ids in figures, one style, one thread, and
# no randomness in the order of sets. JupyterLab, nbval and tools/notebooks.py all inherit it.
export SOURCE_DATE_EPOCH := 0
export MATPLOTLIBRC := $(CURDIR)/lib/matplotlibrc
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export PYTHONHASHSEED := 0
export JUPYTER_PREFER_ENV_PATH := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# uv installs no bytecode: without this every kernel compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup book site run seeds course grade test check mutants lab lint format bench clean distclean pdf release reproducible weight

help: ## list the commands
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---------------------------------------------------------------------------- the environment

$(VENV)/.packages: requirements.lock
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; name one with: make PY=python3.12"; exit 1; }
	@echo "Setting up $(VENV): once, and again when requirements.lock changes."
	@$(PY) -m venv $(VENV)
	@$(BIN)/python -m pip install -q uv==$(UV_VERSION)
	@$(BIN)/uv pip sync -q --python $(BIN)/python --require-hashes requirements.lock
	@$(BIN)/python -m pip install -q $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH)
	@touch $@

# The libraries that ours is compared with; --no-deps, since PyTorch is there already.
$(VENV)/.peers: requirements-peers.lock $(VENV)/.packages
	@$(BIN)/uv pip install -q --no-config --python $(BIN)/python --no-deps --require-hashes -r requirements-peers.lock
	@touch $@

# What releases and grades the course's assignments.
$(VENV)/.course: requirements-course.lock $(VENV)/.packages
	@$(BIN)/uv pip install -q --no-config --python $(BIN)/python --no-deps --require-hashes -r requirements-course.lock
	@touch $@

# What lets JupyterLab read the language of the chapters.
$(VENV)/.lab: requirements-lab.lock $(VENV)/.packages
	@$(BIN)/uv pip install -q --no-config --python $(BIN)/python --no-deps --require-hashes -r requirements-lab.lock
	@touch $@

$(READY): $(VENV)/.packages pyproject.toml
	@$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

setup: $(READY) ## make the environment (the other commands do it when needed)

# ------------------------------------------------------------------------------------ the book

book: run ## execute stale notebooks, render the book to _build/html
	@rm -f _build/.site
	@$(MAKE) --no-print-directory site
	@echo
	@echo "The book is ready. Open    file://$(CURDIR)/_build/html/index.html"
	@echo "or serve it with           python3 -m http.server --directory _build/html"
	@echo "and open                   http://localhost:8000"

# Renders stored outputs; skipped when no file of the book changed since the last rendering.
site: $(READY)
	@if [ ! -e _build/.site ] || [ -n "$$(find book course notebooks lib _config.yml _toc.yml pyproject.toml \
	    requirements.lock -type f -newer _build/.site -not -name '*.pyc' | head -1)" ]; then \
	  echo "Rendering the book ..."; \
	  mkdir -p _build && rm -rf _build/html && touch _build/.site-started && \
	  $(BIN)/jupyter-book build . --all -W -n --keep-going -q && \
	  mv _build/.site-started _build/.site; \
	fi

run: $(READY) ## execute stale notebooks in place (FORCE=1: all; NB=path; JOBS=n)
	@$(BIN)/python tools/notebooks.py run $(if $(FORCE),--force) $(if $(JOBS),--jobs $(JOBS)) $(NB)
	@$(BIN)/python book/extensions/book_pictures.py

seeds: $(READY) ## compute all verdicts again under other seeds (SEEDS="1 2"; NB=path; JOBS=n)
	@$(BIN)/python tools/notebooks.py seeds $(if $(SEEDS),--seeds $(SEEDS)) $(if $(JOBS),--jobs $(JOBS)) $(if $(NB),-- $(NB))

# Copies, in which JupyterLab can show what only the site knows; their owner may change them.
lab: $(READY) $(VENV)/.lab ## open copies of the chapters in JupyterLab, to change and run (NB=path: which first)
	@export JUPYTER_DATA_DIR=$(CURDIR)/_build/lab/.jupyter JUPYTER_CONFIG_DIR=$(CURDIR)/_build/lab/.jupyter; \
	chapter=$$($(BIN)/python book/extensions/book_lab.py _build/lab $(NB)) && \
	$(BIN)/jupyter lab --ServerApp.root_dir=_build/lab --LabApp.default_url=/lab/tree/$$chapter

# ----------------------------------------------------------------------------------- the course

course: $(READY) $(VENV)/.course ## make the student versions of all assignments (ASSIGNMENT=name: of one)
	@$(if $(ASSIGNMENT),,$(MAKE) --no-print-directory site)
	@$(BIN)/python tools/course.py --folder "$(COURSE)" release $(ASSIGNMENT)

grade: $(READY) $(VENV)/.course ## grade what was handed in (SUBMITTED=path), enter marks (MARKS=path)
	@$(if $(SUBMITTED)$(MARKS),,echo "Name a folder: make grade SUBMITTED=path, or a table: MARKS=path"; exit 1)
	@$(if $(SUBMITTED),$(BIN)/python tools/course.py --folder "$(COURSE)" grade "$(SUBMITTED)")
	@$(if $(MARKS),$(BIN)/python tools/course.py --folder "$(COURSE)" marks "$(MARKS)")

# ---------------------------------------------------------------------------------- as an object

pdf: $(READY) ## print the book to _build/private-dynamics.pdf and check it (needs Chromium)
	@tools/install_browsers.sh
	@$(MAKE) --no-print-directory site
	@$(BIN)/python tools/pdf.py

release: $(READY) ## archives, PDF, manifest and checksums in _build/release (DIRTY=1: with changes)
	@$(BIN)/python tools/release.py --check $(if $(DIRTY),--dirty)
	@$(MAKE) --no-print-directory pdf course COURSE=_build/course ASSIGNMENT=
	@$(BIN)/python tools/release.py $(if $(DIRTY),--dirty)
	@cd _build/release && sha256sum --quiet -c SHA256SUMS && echo "Checksums agree: _build/release"

reproducible: $(READY) ## build the committed book twice, in two folders, and compare every file
	@$(BIN)/python tools/reproducible.py

# ------------------------------------------------------------------------------------ the proof

test: $(READY) $(VENV)/.peers $(VENV)/.course $(VENV)/.lab ## run everything: notebooks, library, ledger, site, environment
	@tools/install_browsers.sh firefox-esr
	@$(MAKE) --no-print-directory site
	@PYTHONPATH=tests $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 \
	  $(if $(wildcard tests/nbval_verdicts.py),-p nbval_verdicts) \
	  --nbval --nbval-current-env notebooks tests

check: lint $(VENV)/.peers $(VENV)/.course ## before a commit: lint, stale notebooks, the gate, tests of the rooms touched
	@$(BIN)/python tools/touched.py

lint: $(READY) ## formatting, lint, types, rules for notebooks
	@$(BIN)/ruff format --check $(CODE) notebooks
	@$(BIN)/ruff check $(CODE) notebooks
	@$(BIN)/mypy
	@$(BIN)/python tools/notebooks.py check $(NB)

mutants: $(READY) $(VENV)/.peers ## change the library in 200 places, one by one: do its tests see it? (ROOM=name; COUNT=n; SEED=n)
	@$(BIN)/python tools/mutants.py $(if $(ROOM),--room $(ROOM)) $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

weight: $(READY) ## lines, code and public names of every part
	@$(BIN)/python tools/weight.py $(if $(NAMES),--names)

format: $(READY) ## format code and bring notebooks to their canonical text
	@$(BIN)/ruff format $(CODE) notebooks
	@$(BIN)/ruff check --fix-only $(CODE) notebooks
	@$(BIN)/python tools/notebooks.py normalise $(NB)

bench: $(READY) $(VENV)/.peers ## measure the hot paths against their baselines
	@$(BIN)/python benchmarks/run.py

clean: ## remove what was built
	@rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environment as well
	@rm -rf $(VENV)
