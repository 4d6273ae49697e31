#!/usr/bin/env bash
# The whole check: lint, types, tests. `all` starts real servers, `fast` starts none.
# Ends with the line `N passed, N failed, N skipped` that test/kit/countReporter.ts prints.
set -euo pipefail
cd "$(dirname "$0")/.."
npx biome check --error-on-warnings .
npx tsc -p tsconfig.json
if [ "${1:-all}" = fast ]; then
  HEADWATER_TEST_FAST=1 exec npx vitest run --project fast
fi
npx tsx test/kit/install.ts
exec npx vitest run
