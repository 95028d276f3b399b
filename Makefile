# Every target installs what it needs and leaves no file in the checkout that Git would track, except
# that `bench` and `bench-peers` write their figures.
.PHONY: install build check check-lint check-format check-types check-deps watch test test-all test-browser test-dbt test-spark test-deep test-kill demo bench bench-peers bench-short clean help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s%s\n", $$1, $$2 }' '$(firstword $(MAKEFILE_LIST))'

install: node_modules/.package-lock.json ## install the packages of package-lock.json

node_modules/.package-lock.json: package-lock.json
	@echo 'Installing the packages of package-lock.json (npm ci) …'
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

build: install ## compile TypeScript to dist/
	@echo 'Compiling TypeScript to dist/ …'
	@npm run --silent build

check: install ## check formatting, lint, types and dependency rules
	@$(MAKE) --no-print-directory -j2 check-lint check-format check-types check-deps

check-lint: install
	@npm run --silent lint

check-format: install
	@npm run --silent format:check

check-types: install
	@npm run --silent typecheck

check-deps: install
	@npm run --silent deps

watch: build ## run the tests that a change concerns, each time a file is saved
	@npx vitest watch --changed

test: check build ## run before a push: types, lint, unit tests and the main flows (3 min)
	@npm run --silent test

test-all: test test-browser test-dbt test-spark test-deep ## run all tests but test-kill, as CI does (40 min)

test-dbt: build ## compare the models under dbt Core with the built-in runner, row for row (needs python3)
	@npm run --silent test:dbt

test-spark: build ## compare builds on a local Spark cluster with DuckDB, table by table (needs python3, Java 17; 13 min)
	@npm run --silent test:spark

test-deep: build ## run whole commands and nights, with faults, damage, full disks and every option (20 min)
	@npm run --silent test:deep

test-browser: build ## open the report in headless Chromium, installed from Debian's packages as root (1 min)
	@npm run --silent test:browser

test-kill: build ## kill a run at every write and at 50 other points (15 min)
	@npm run --silent test:kill

demo: build ## run two simulated nights on the stand-in platform, and answer three questions
	@node dist/cli/main.js demo

bench: build ## run all benchmarks and compare them with their targets
	@npm run --silent bench

bench-peers: build ## compare with dlt, Singer, dbt and SQLMesh, and write the tables in the README (needs python3)
	@npm run --silent bench -- peers models

bench-short: build ## compare CPU time with the bounds in bench/short.json (3 min)
	@node bench/run.mjs --short

clean: ## remove what the other targets made
	rm -rf node_modules dist coverage data/demo
