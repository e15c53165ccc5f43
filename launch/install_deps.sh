#!/usr/bin/env bash
# Installs the Debian packages that Trireme needs, those alone that are missing.
#   launch/install_deps.sh               to build and run the program
#   launch/install_deps.sh --for-tests   also what tests, benchmarks and code checks need
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config git ca-certificates python3 python3-venv python3-pip
  libopenmpi-dev openmpi-bin libhwy-dev libyaml-cpp-dev libpcre2-dev libsentencepiece-dev libutf8proc-dev libxxhash-dev libhdf5-dev
  nlohmann-json3-dev libcli11-dev libspdlog-dev libhwloc-dev libboost-dev libssl-dev prometheus-cpp-dev
  libthrift-dev thrift-compiler
  libopenblas-dev libdnnl-dev # what 'trireme bench' compares with
)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev prometheus chromium openssl clang-format-14 clang-tidy-14
  clang-14 libclang-rt-14-dev)

case "${1:-}" in
  "") ;;
  --for-tests) packages+=("${test_packages[@]}") ;;
  *) sed -n '2,4p' "$0" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "install_deps: all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install_deps: run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Runs apt-get quietly; its output is shown only if it fails.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null >"$log" 2>&1
}
fail() {
  tail -n 20 "$log" >&2
  echo "install_deps: $1" >&2
  exit 1
}

echo "install_deps: updating the list of packages"
apt update || { sleep 5; apt update; } || fail "apt-get update failed twice"
echo "install_deps: installing ${#missing[@]} packages: ${missing[*]}"
apt install -y --no-install-recommends "${missing[@]}" || fail "apt-get install failed"
echo "install_deps: done"
