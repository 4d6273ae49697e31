#!/usr/bin/env bash
# The whole check. `all`: lint, types, every test, on real servers. `fast`: tests that need no server, as many as half a minute takes
# (`make lint` has lint and types). Ends with the line `N passed, N failed, N skipped` of test/kit/countReporter.ts.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-all}" = fast ]; then
  HEADWATER_TEST_FAST=1 exec npx vitest run --project fast
fi
npx biome check --error-on-warnings . &
lint=$!
npx tsc -p tsconfig.json
wait "$lint"
npx tsx test/kit/install.ts
exec npx vitest run
