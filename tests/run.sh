#!/usr/bin/env bash
# Installs, builds, fetches the models, and runs all tests. Safe to run again: what is done is skipped.
#   tests/run.sh [--warnings-as-errors] [OPTIONS OF CTEST…]      e.g.  tests/run.sh -L unit -R config
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
warnings_as_errors=OFF
if [ "${1:-}" = --warnings-as-errors ]; then
  warnings_as_errors=ON
  shift
fi

"$root/launch/install_deps.sh" --for-tests

"$root/launch/build.sh" -DTRIREME_WITH_TESTS=ON -DTRIREME_WITH_BENCHMARKS=ON -DTRIREME_WARNINGS_AS_ERRORS="$warnings_as_errors"

"$root/launch/fetch_model.sh" smollm2
"$root/launch/fetch_model.sh" gemma3
"$root/launch/fetch_model.sh" minilm
export TRIREME_TEST_MODELS=$root/models

echo "tests: running"
timeout 20m ctest --test-dir "$root/build/release" --output-on-failure --parallel "$(nproc)" "$@" </dev/null
