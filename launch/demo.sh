#!/usr/bin/env bash
# Installs, builds, fetches a small model, and lets two ranks answer a question. Safe to run again: what is done is skipped.
#   launch/demo.sh [PROMPT]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prompt=${1:-"Why do rowers in a trireme need a common beat? Answer in two sentences."}
ranks=2

"$root/launch/install_deps.sh"

"$root/launch/build.sh" --target trireme -DTRIREME_WITH_TESTS=OFF -DTRIREME_WITH_BENCHMARKS=OFF
"$root/launch/fetch_model.sh" smollm2

mpirun_options=(-n "$ranks" --bind-to none --oversubscribe)
if [ "$(id -u)" -eq 0 ]; then mpirun_options+=(--allow-run-as-root); fi
echo "demo: mpirun ${mpirun_options[*]} build/release/launch/trireme generate …"
mpirun "${mpirun_options[@]}" "$root/build/release/launch/trireme" generate \
  --model "$root/models/SmolLM2-135M-Instruct.Q4_1.gguf" --chat --max-tokens 128 --prompt "$prompt" </dev/null
