// The "model" of tokenizer.json: its vocabulary, and what turns words into ids.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/tokenizer/added_tokens.h"
#include "runtime/tokenizer/tokenizer_json_file.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_model.h"

namespace trireme::tokenizer {

// "BPE", "Unigram", "WordPiece" or "WordLevel"; old files may not say it. Error: another type.
base::Result<std::string> model_type(const nlohmann::json& model);

// Whether the model works on bytes just as well as on characters of the byte alphabet. It does so faster.
bool works_on_bytes(const nlohmann::json& model);

// `as_bytes`: tokens are written in the byte alphabet; the vocabulary gets their bytes.
base::Result<std::unique_ptr<Vocabulary>> build_vocabulary(const TokenizerJson& file, bool as_bytes);

// `vocabulary` outlives the model. `added`: in which an unknown token may be that the model's own vocabulary lacks.
base::Result<std::unique_ptr<WordModel>> build_model(const TokenizerJson& file, bool as_bytes,
                                                     const Vocabulary& vocabulary, const AddedTokens& added);

}  // namespace trireme::tokenizer
