// Which tokens end a generation.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/vocabulary.h"

namespace trireme::tokenizer {

// Appends the ids in `value`: one id, a list of ids, or null (none). Error: anything else, or an id that the vocabulary
// does not have; it names `key`.
base::Status append_token_ids(const nlohmann::json& value, std::string_view key, const Vocabulary& vocabulary,
                              std::vector<TokenId>& ids);

// Adds the special tokens that end a turn or a text in well-known models ("<|im_end|>", "<end_of_turn>", …), then sorts
// and removes duplicates.
void complete_end_of_generation(const Vocabulary& vocabulary, std::vector<TokenId>& ids);

}  // namespace trireme::tokenizer
