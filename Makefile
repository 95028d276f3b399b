# Every target installs what it needs and leaves the checkout as it was.
.PHONY: install build check check-lint check-format check-types check-deps watch test test-all test-browser test-dbt test-spark test-deep test-kill demo bench bench-peers bench-short clean help

help: ## what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: node_modules/.package-lock.json ## the packages of the lock file

node_modules/.package-lock.json: package-lock.json
	@echo 'Installing the packages of package-lock.json (npm ci) …'
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

build: install ## TypeScript to dist/
	@echo 'Compiling TypeScript to dist/ …'
	@npm run --silent build

check: install ## formatting, lint, types, dependency rules, two at a time
	@$(MAKE) --no-print-directory --output-sync -j2 check-lint check-format check-types check-deps

check-lint: install
	@npm run --silent lint

check-format: install
	@npm run --silent format:check

check-types: install
	@npm run --silent typecheck

check-deps: install
	@npm run --silent deps

watch: build ## the tests of what changes, again and again
	@npx vitest watch --changed

test: check build ## before a push: types, lint, unit tests and the main flows; three minutes
	@npm run --silent test

test-all: test test-browser test-dbt test-spark test-deep ## everything that must hold, in CI too; fifty minutes

test-dbt: build ## the models under dbt Core against the built-in runner, row for row; needs python3
	@npm run --silent test:dbt

test-spark: build ## builds on a Spark cluster that it starts, against DuckDB's, table by table; needs python3 and Java 17; six minutes
	@npm run --silent test:spark

test-deep: build ## whole commands and nights, faults, damage, full disks, every option; half an hour
	@npm run --silent test:deep

test-browser: build ## the report in headless Chromium, which it installs from Debian's packages as root; a minute
	@npm run --silent test:browser

test-kill: build ## kills a run at every write, and at 50 moments: a quarter of an hour
	@npm run --silent test:kill

demo: build ## two simulated nights on the stand-in platform, and three answers
	@node dist/cli/main.js demo

bench: build ## figures as ratios, measured in one run
	@npm run --silent bench

bench-peers: build ## this project against dlt, and README's table of it; needs python3
	@npm run --silent bench -- peers

bench-short: build ## CPU time as ratios to passes by hand, against bench/short.json; three minutes
	@node bench/run.mjs --short

clean: ## what the targets above made
	rm -rf node_modules dist coverage data/demo
