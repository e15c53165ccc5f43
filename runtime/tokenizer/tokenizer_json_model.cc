#include "runtime/tokenizer/tokenizer_json_model.h"

#include <array>
#include <cmath>
#include <utility>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/byte_level_bpe.h"
#include "runtime/tokenizer/json_error.h"
#include "runtime/tokenizer/ranked_bpe.h"
#include "runtime/tokenizer/unigram.h"
#include "runtime/tokenizer/word_piece.h"

namespace trireme::tokenizer {
namespace {

using nlohmann::json;
using ModelResult = base::Result<std::unique_ptr<WordModel>>;

std::string text_or_empty(const json& model, const char* key) {
  const json value = value_or_null(model, key);
  return value.is_null() ? std::string() : value.get<std::string>();
}

bool flag(const json& model, const char* key) {
  const json value = value_or_null(model, key);
  return !value.is_null() && value.get<bool>();
}

base::Status add_token(const std::string& token, TokenId id, bool as_bytes, bool byte_fallback,
                       Vocabulary& vocabulary) {
  const auto byte = byte_fallback ? parse_byte_token(token) : std::nullopt;
  if (byte) return vocabulary.add(id, std::string(1, static_cast<char>(*byte)), TokenKind::kByte);
  const auto bytes = as_bytes ? bytes_from_alphabet(token) : std::optional(token);
  const base::Status status = vocabulary.add(id, bytes.value_or(token), TokenKind::kNormal);
  // A token with characters that the byte alphabet does not have can only be an added one: no word becomes it.
  if (!status || !bytes) return status;
  return vocabulary.index(id);
}

base::Result<std::optional<TokenId>> unknown_token(const json& model, const Vocabulary& vocabulary,
                                                   const AddedTokens& added) {
  const json token = value_or_null(model, "unk_token");
  if (token.is_null()) return std::optional<TokenId>();
  const auto& content = token.get_ref<const std::string&>();
  std::optional<TokenId> id = vocabulary.find(content);
  if (!id) id = added.find(content);
  if (!id) return base::invalid_argument("model.unk_token \"" + content + "\" is not in the vocabulary");
  return id;
}

base::Result<MergeTable> build_merges(const TokenizerJson& file, bool as_bytes, std::size_t prefix_bytes,
                                      const Vocabulary& vocabulary) {
  if (file.merges.size() > MergeTable::kMaxMerges) return base::invalid_argument("model.merges is too long");
  MergeTable merges(file.merges.size());
  for (const auto& [left, right] : file.merges) {
    const auto left_bytes = as_bytes ? bytes_from_alphabet(left) : std::optional(left);
    const auto right_bytes = as_bytes ? bytes_from_alphabet(right) : std::optional(right);
    const base::Status status =
        merges.add(vocabulary, left_bytes.value_or(left), right_bytes.value_or(right), prefix_bytes);
    if (!status) return base::invalid_argument("model.merges: " + status.error().message);
  }
  return merges;
}

ModelResult build_bpe(const TokenizerJson& file, bool as_bytes, const Vocabulary& vocabulary,
                      const AddedTokens& added) {
  const json& model = file.rest.at("model");
  const json dropout = value_or_null(model, "dropout");
  if (!dropout.is_null() && dropout != 0) return base::unsupported("model.dropout is not supported");
  const std::string prefix = text_or_empty(model, "continuing_subword_prefix");
  base::Result<MergeTable> merges = build_merges(file, as_bytes, prefix.size(), vocabulary);
  if (!merges) return merges.error();
  const base::Result<std::optional<TokenId>> unknown = unknown_token(model, vocabulary, added);
  if (!unknown) return unknown.error();
  const bool ignore_merges = flag(model, "ignore_merges");
  if (as_bytes) {
    return std::unique_ptr<WordModel>(
        std::make_unique<ByteLevelBpe>(vocabulary, std::move(*merges), ByteLevelBpe::Options{ignore_merges, *unknown}));
  }
  const base::Result<ByteTokenIds> byte_ids = byte_token_ids(vocabulary);
  if (!byte_ids) return byte_ids.error();
  RankedBpe::Options options{
      ignore_merges, flag(model, "fuse_unk"), prefix, text_or_empty(model, "end_of_word_suffix"), *unknown, *byte_ids};
  return std::unique_ptr<WordModel>(std::make_unique<RankedBpe>(vocabulary, std::move(*merges), std::move(options)));
}

ModelResult build_unigram(const TokenizerJson& file, const Vocabulary& vocabulary) {
  std::vector<double> scores;
  for (const auto& [token, score] : file.scored_vocab) {
    if (!std::isfinite(score))
      return base::invalid_argument("model.vocab: the score of \"" + token + "\" is not finite");
    scores.push_back(score);
  }
  const base::Result<ByteTokenIds> byte_ids = byte_token_ids(vocabulary);
  if (!byte_ids) return byte_ids.error();
  Unigram::Options options{std::nullopt, *byte_ids};
  const json unknown = value_or_null(file.rest.at("model"), "unk_id");
  if (!unknown.is_null()) {
    if (!unknown.is_number_unsigned() || unknown.get<std::uint64_t>() >= scores.size()) {
      return base::invalid_argument("model.unk_id is not the id of a token");
    }
    options.unknown = unknown.get<TokenId>();
  }
  return std::unique_ptr<WordModel>(std::make_unique<Unigram>(vocabulary, std::move(scores), options));
}

ModelResult build_word_piece(const json& model, const Vocabulary& vocabulary, TokenId unknown) {
  WordPiece::Options options{.unknown = unknown};
  options.continuation_prefix = model.value("continuing_subword_prefix", options.continuation_prefix);
  const json limit = value_or_null(model, "max_input_chars_per_word");
  if (!limit.is_null()) {
    if (!limit.is_number_unsigned()) return base::invalid_argument("model.max_input_chars_per_word is not a count");
    options.max_word_characters = limit.get<std::size_t>();
  }
  return std::unique_ptr<WordModel>(std::make_unique<WordPiece>(vocabulary, std::move(options)));
}

}  // namespace

base::Result<std::string> model_type(const json& model) {
  if (const json type = value_or_null(model, "type"); !type.is_null()) {
    const auto& name = type.get_ref<const std::string&>();
    for (const char* known : {"BPE", "Unigram", "WordPiece", "WordLevel"}) {
      if (name == known) return name;
    }
    return unsupported_type("model", name);
  }
  if (model.contains("merges")) return std::string("BPE");
  if (model.contains("unk_id")) return std::string("Unigram");
  if (model.contains("continuing_subword_prefix")) return std::string("WordPiece");
  return base::invalid_argument("model.type is missing");
}

bool works_on_bytes(const json& model) {
  const bool fuses_unknown = !value_or_null(model, "unk_token").is_null() && flag(model, "fuse_unk");
  return !flag(model, "byte_fallback") && !fuses_unknown && text_or_empty(model, "continuing_subword_prefix").empty() &&
         text_or_empty(model, "end_of_word_suffix").empty();
}

base::Result<std::unique_ptr<Vocabulary>> build_vocabulary(const TokenizerJson& file, bool as_bytes) {
  const bool byte_fallback = flag(file.rest.at("model"), "byte_fallback");
  auto vocabulary = std::make_unique<Vocabulary>();
  const std::size_t size = file.vocab.size() + file.scored_vocab.size();
  vocabulary->reserve(size, 8 * size);
  const auto add = [&](const std::string& token, TokenId id) -> base::Status {
    const base::Status status = add_token(token, id, as_bytes, byte_fallback, *vocabulary);
    if (status) return status;
    return base::invalid_argument("model.vocab: \"" + token + "\": " + status.error().message);
  };
  for (const auto& [token, id] : file.vocab) {
    if (const base::Status status = add(token, id); !status) return status.error();
  }
  TokenId next = 0;
  for (const auto& [token, score] : file.scored_vocab) {
    if (const base::Status status = add(token, next++); !status) return status.error();
  }
  return vocabulary;
}

base::Result<std::unique_ptr<WordModel>> build_model(const TokenizerJson& file, bool as_bytes,
                                                     const Vocabulary& vocabulary, const AddedTokens& added) {
  const json& model = file.rest.at("model");
  const base::Result<std::string> type = model_type(model);
  if (!type) return type.error();
  if ((*type == "Unigram") != file.vocab.empty()) {
    return base::invalid_argument("model.vocab is empty or not what model.type " + *type + " has");
  }
  if (*type == "BPE") return build_bpe(file, as_bytes, vocabulary, added);
  if (*type == "Unigram") return build_unigram(file, vocabulary);
  const base::Result<std::optional<TokenId>> unknown = unknown_token(model, vocabulary, added);
  if (!unknown) return unknown.error();
  if (*type == "WordLevel") {
    return std::unique_ptr<WordModel>(std::make_unique<WordLevel>(vocabulary, *unknown));
  }
  if (!*unknown) return base::invalid_argument("model.unk_token is missing");
  return build_word_piece(model, vocabulary, **unknown);
}

}  // namespace trireme::tokenizer
