#!/usr/bin/env bash
# Configures the preset "release" and builds into build/release; prints a line for each tenth that is done.
#   launch/build.sh [--target TARGET] [-DOPTION=VALUE…]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=all
if [ "${1:-}" = --target ]; then
  target=$2
  shift 2
fi
# Checkouts in different places share compiled objects where ccache is installed.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
fail() {
  tail -n 60 "$log" >&2
  echo "build: $1 failed" >&2
  exit 1
}
progress() {
  awk -F '[][/]' '/^\[[0-9]+\/[0-9]+\]/ { tenth = int($2 * 10 / $3); if (tenth > shown) { print "build: " tenth * 10 " %"; fflush(); shown = tenth } }'
}

echo "build: configuring"
cmake --preset release -S "$root" "$@" >"$log" 2>&1 </dev/null || fail "configuration"
echo "build: compiling with $(nproc) processes"
cmake --build "$root/build/release" --parallel "$(nproc)" --target "$target" 2>&1 </dev/null | tee "$log" | progress || fail "compilation"
echo "build: done"
