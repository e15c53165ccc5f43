#!/usr/bin/env bash
# Installs, builds, fetches the two models, and runs all tests. Safe to run again: what is done is skipped.
#   tests/run.sh [--warnings-as-errors] [OPTIONS OF CTEST…]      e.g.  tests/run.sh -L unit -R config
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
warnings_as_errors=OFF
if [ "${1:-}" = --warnings-as-errors ]; then
  warnings_as_errors=ON
  shift
fi

"$root/launch/install_deps.sh" --for-tests

echo "tests: building"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() {
  cmake --preset release -S "$root" -DTRIREME_WITH_TESTS=ON -DTRIREME_WITH_BENCHMARKS=ON \
    -DTRIREME_WARNINGS_AS_ERRORS="$warnings_as_errors" &&
    cmake --build "$root/build/release" --parallel "$(nproc)"
}
build >"$log" 2>&1 </dev/null || { tail -n 60 "$log" >&2; echo "tests: the build failed" >&2; exit 1; }

"$root/launch/fetch_model.sh" smollm2
"$root/launch/fetch_model.sh" gemma3
export TRIREME_TEST_MODELS=$root/models

echo "tests: running"
timeout --foreground 20m ctest --test-dir "$root/build/release" --output-on-failure --parallel "$(nproc)" "$@" </dev/null
