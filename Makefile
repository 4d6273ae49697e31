# Headwater. `make up` and `make test` are the two commands of the README; everything else serves them.
SHELL := /bin/bash
SOURCES := $(shell find streams processors projections api infra -type f \( -name '*.ts' -o -name '*.sql' -o -name '*.mjs' -o -name '*.gz' \) 2>/dev/null)
HEADWATER := node dist/infra/processes/cli.js

.PHONY: up down build test test-fast test-full lint bench clean

# Installed when the lock file says something else than what lies there.
node_modules/.package-lock.json: package-lock.json package.json
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

dist/.built: node_modules/.package-lock.json tsconfig.json infra/tsconfig.build.json $(SOURCES)
	@rm -rf dist
	npm run --silent build
	@touch $@

build: dist/.built

up: dist/.built
	@exec $(HEADWATER) up

down: dist/.built
	@exec $(HEADWATER) down

lint: node_modules/.package-lock.json
	npx biome check .
	npx tsc -p tsconfig.json

test: dist/.built
	bash test/run.sh all

test-full: dist/.built
	HEADWATER_TEST_FULL=1 bash test/run.sh all

test-fast: node_modules/.package-lock.json
	bash test/run.sh fast

bench: dist/.built
	npx tsx test/bench/bench.ts $(ARGS)

clean:
	rm -rf dist
