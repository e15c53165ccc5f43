// Loaders: a checkpoint's tokenizer files → the parts of a tokenizer. What is not supported is refused by its name.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "runtime/checkpoint/gguf_file.h"
#include "runtime/checkpoint/side_files.h"
#include "runtime/tokenizer/pipeline_tokenizer.h"

namespace trireme::tokenizer {

// From the keys tokenizer.ggml.*: models "gpt2" (byte-level BPE) and "llama" (SentencePiece-style BPE by scores).
base::Result<TokenizerParts> load_gguf_tokenizer(const checkpoint::GgufFile& file);

// From tokenizer.json, or else tokenizer.model, with tokenizer_config.json and generation_config.json beside it, and
// from the model's `config`.
base::Result<TokenizerParts> load_hugging_face_tokenizer(const checkpoint::SideFiles& files,
                                                         const nlohmann::json& config);
base::Result<TokenizerParts> load_hugging_face_tokenizer(const std::filesystem::path& directory,
                                                         const nlohmann::json& config);

// From a tokenizer.json alone: without what configures BOS and EOS.
base::Result<TokenizerParts> load_tokenizer_json(const std::filesystem::path& path);
base::Result<TokenizerParts> parse_tokenizer(const std::string& text);  // of such a file

// From a SentencePiece model ("tokenizer.model"), which libsentencepiece reads. It says which tokens are BOS and EOS;
// BOS is added to a text, as Llama does it.
base::Result<TokenizerParts> load_sentencepiece_model(const std::filesystem::path& path);
base::Result<TokenizerParts> parse_sentencepiece_model(const std::string& bytes);  // of such a file

}  // namespace trireme::tokenizer
