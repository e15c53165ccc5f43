// Loaders: a checkpoint's tokenizer files → the parts of a tokenizer. What is not supported is refused by its name.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "runtime/checkpoint/gguf_file.h"
#include "runtime/tokenizer/pipeline_tokenizer.h"

namespace trireme::tokenizer {

// From the keys tokenizer.ggml.*: models "gpt2" (byte-level BPE) and "llama" (SentencePiece-style BPE by scores).
base::Result<TokenizerParts> load_gguf_tokenizer(const checkpoint::GgufFile& file);

// From tokenizer.json, tokenizer_config.json and generation_config.json in `directory`, of which the first must exist,
// and from the model's `config`.
base::Result<TokenizerParts> load_hugging_face_tokenizer(const std::filesystem::path& directory,
                                                         const nlohmann::json& config);

}  // namespace trireme::tokenizer
