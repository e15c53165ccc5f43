#include "runtime/tokenizer/generation_ends.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace trireme::tokenizer {
namespace {

constexpr std::array<std::string_view, 13> kEndTokens = {
    "<|im_end|>",      "<end_of_turn>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>",
    "<|end_of_turn|>", "<|eot|>",       "<EOT>",      "<|return|>", "<eos>",           "</s>"};

}  // namespace

base::Status append_token_ids(const nlohmann::json& value, std::string_view key, const Vocabulary& vocabulary,
                              std::vector<TokenId>& ids) {
  if (value.is_null()) return base::ok_status();
  if (value.is_array()) {
    for (const nlohmann::json& item : value) {
      if (item.is_array() || item.is_null())
        return base::invalid_argument(std::string(key) + " holds something else than ids");
      const base::Status status = append_token_ids(item, key, vocabulary, ids);
      if (!status) return status;
    }
    return base::ok_status();
  }
  const bool in_range = value.is_number_integer() && (value.is_number_unsigned() || value.get<std::int64_t>() >= 0) &&
                        value.get<std::uint64_t>() < static_cast<std::uint64_t>(vocabulary.size());
  if (!in_range) return base::invalid_argument(std::string(key) + " is not the id of a token");
  ids.push_back(value.get<TokenId>());
  return base::ok_status();
}

void complete_end_of_generation(const Vocabulary& vocabulary, std::vector<TokenId>& ids) {
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.kind(id) != TokenKind::kSpecial) continue;
    if (std::find(kEndTokens.begin(), kEndTokens.end(), vocabulary.bytes(id)) != kEndTokens.end()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace trireme::tokenizer
