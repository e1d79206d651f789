# Every target installs what it needs first; a setup that is complete costs a fraction of a second.

PYTHON ?= python3
BIN := .venv/bin
SOAK ?= 30
KILLS ?= 50

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test test-all soak soak-kills check bench sbom clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install everything into .venv and .build (about ten minutes the first time)
	@$(PYTHON) setup/install.py

demo: setup ## Measure the quick suite, print its summary and write a report
	@mkdir -p .ciphermark
	$(BIN)/ciphermark run quick >.ciphermark/results.txt
	@$(BIN)/ciphermark summary last
	@echo "all tables: $(CURDIR)/.ciphermark/results.txt"
	@$(BIN)/ciphermark report last -o .ciphermark/report.html
	@echo "dashboard: make serve, which prints the address to open"

serve: setup ## Start all services here, without containers; Ctrl-C stops them
	@$(BIN)/python deploy/serve.py

# A file of tests stays in one process, and so does what the contract suite has of one variant: see tests/distribution.py.
PYTEST = $(BIN)/python -m pytest --numprocesses=4 --dist=loadfile --no-loadscope-reorder
CHOSEN ?= not extended

test: setup ## Run the tests, in minutes (CHOSEN: an expression of marks, see CONTRIBUTING.md)
	$(PYTEST) -m "$(CHOSEN)"

test-all: setup ## Run all tests: also images, builds, recipes, long series of kills, browsers; with more examples
	$(PYTEST) -m "" --hypothesis-profile=extended

soak: setup ## Repeat the contract suite (SOAK=30 times) and print what failed in any of them
	@failed=0; for round in $$(seq $(SOAK)); do \
		log=.build/logs/soak-$$round.log; \
		$(BIN)/python -m pytest tests/contract --numprocesses=3 --dist=loadfile -q >$$log 2>&1 || failed=1; \
		echo "$$round of $(SOAK): $$(tail -n 1 $$log)"; \
		grep -E '^(FAILED|ERROR) ' $$log || true; \
	done; exit $$failed

soak-kills: setup ## Kill random processes of make serve under load (KILLS=50 of them) and print what was lost or slow
	PYTHONPATH=tests $(BIN)/python -m kills --kills $(KILLS) $(if $(SEED),--seed $(SEED))

check: setup ## Check style, types, the direction of imports and language
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/architecture/prose.py

bench: setup ## Measure Ciphermark itself
	$(BIN)/python -m bench

sbom: ## Write the bill of materials (CycloneDX) to sbom.cdx.json
	python3 setup/sbom.py > sbom.cdx.json

clean: ## Remove what setup and the tools made; measurements in .ciphermark stay
	rm -rf .venv .venv-* .build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
