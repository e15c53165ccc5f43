#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/byte_level_bpe.h"
#include "runtime/tokenizer/generation_ends.h"
#include "runtime/tokenizer/loaders.h"
#include "runtime/tokenizer/metaspace.h"
#include "runtime/tokenizer/pre_tokenizer_patterns.h"
#include "runtime/tokenizer/sentencepiece_bpe.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

// The values of tokenizer.ggml.token_type.
enum GgufTokenType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

std::string key_of(std::string_view name) {
  return "tokenizer.ggml." + std::string(name);
}

// A scalar of `metadata`, or `otherwise` where it is missing. Error: it has another type.
base::Result<bool> bool_key(const nlohmann::json& metadata, std::string_view name, bool otherwise) {
  const auto value = metadata.find(key_of(name));
  if (value == metadata.end()) return otherwise;
  if (!value->is_boolean()) return base::invalid_argument(key_of(name) + " is not a bool");
  return value->get<bool>();
}

base::Result<std::string> string_key(const nlohmann::json& metadata, std::string_view name,
                                     std::string_view otherwise) {
  const auto value = metadata.find(key_of(name));
  if (value == metadata.end()) return std::string(otherwise);
  if (!value->is_string()) return base::invalid_argument(key_of(name) + " is not a string");
  return value->get<std::string>();
}

base::Result<std::optional<TokenId>> token_key(const nlohmann::json& metadata, std::string_view name,
                                               const Vocabulary& vocabulary) {
  const auto value = metadata.find(key_of(name));
  if (value == metadata.end()) return std::optional<TokenId>();
  std::vector<TokenId> ids;
  const base::Status status = append_token_ids(*value, key_of(name), vocabulary, ids);
  if (!status) return status.error();
  if (ids.size() != 1) return base::invalid_argument(key_of(name) + " is not the id of a token");
  return std::optional(ids.front());
}

struct RawTokens {
  std::vector<std::string_view> texts;
  std::vector<std::int32_t> types;  // as long as texts
};

base::Result<RawTokens> read_tokens(const checkpoint::GgufFile& file) {
  auto texts = file.string_array(key_of("tokens"));
  if (!texts) return base::not_found(key_of("tokens") + " is missing or not an array of strings");
  RawTokens tokens{std::move(*texts), {}};
  tokens.types.assign(tokens.texts.size(), kNormal);
  if (file.has(key_of("token_type"))) {
    auto types = file.int_array(key_of("token_type"));
    if (!types) return base::invalid_argument(key_of("token_type") + " is not an array of integers");
    tokens.types = std::move(*types);
  }
  if (tokens.types.size() != tokens.texts.size()) {
    return base::invalid_argument(key_of("token_type") + " has " + std::to_string(tokens.types.size()) +
                                  " entries for " + std::to_string(tokens.texts.size()) + " tokens");
  }
  for (std::size_t i = 0; i < tokens.texts.size(); ++i) {
    if (tokens.types[i] < kNormal || tokens.types[i] > kByte) {
      return base::unsupported(key_of("token_type") + "[" + std::to_string(i) + "] is " +
                               std::to_string(tokens.types[i]));
    }
    if (find_invalid_utf8(tokens.texts[i])) {
      return base::invalid_argument(key_of("tokens") + "[" + std::to_string(i) + "] is not valid UTF-8");
    }
  }
  return tokens;
}

TokenKind kind_of(std::int32_t type) {
  switch (type) {
    case kUnknown:
    case kControl: return TokenKind::kSpecial;
    case kUserDefined: return TokenKind::kUserDefined;
    case kByte: return TokenKind::kByte;
    default: return TokenKind::kNormal;
  }
}

// Adds every token, and makes those findable from which words are built. `bytes_of(text, type, id)` gives a token's
// bytes.
template <typename BytesOf>
base::Result<std::unique_ptr<Vocabulary>> build_vocabulary(const RawTokens& tokens, const BytesOf& bytes_of) {
  auto vocabulary = std::make_unique<Vocabulary>();
  vocabulary->reserve(tokens.texts.size(), 8 * tokens.texts.size());
  for (std::size_t i = 0; i < tokens.texts.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const base::Result<std::string> bytes = bytes_of(tokens.texts[i], tokens.types[i]);
    base::Status status = bytes ? vocabulary->add(id, *bytes, kind_of(tokens.types[i])) : bytes.error();
    if (status && tokens.types[i] == kNormal) status = vocabulary->index(id);
    if (!status) return base::invalid_argument(key_of("tokens") + ": " + status.error().message);
  }
  return vocabulary;
}

base::Result<MergeTable> read_merges(const checkpoint::GgufFile& file, const Vocabulary& vocabulary) {
  const auto merges = file.string_array(key_of("merges"));
  if (!merges) return base::not_found(key_of("merges") + " is missing or not an array of strings");
  if (merges->size() > MergeTable::kMaxMerges) return base::invalid_argument(key_of("merges") + " is too long");
  MergeTable table(merges->size());
  for (const std::string_view merge : *merges) {
    const std::size_t space = merge.find(' ', 1);
    const auto left = space == std::string_view::npos ? std::nullopt : bytes_from_alphabet(merge.substr(0, space));
    const auto right = space == std::string_view::npos ? std::nullopt : bytes_from_alphabet(merge.substr(space + 1));
    if (!left || !right)
      return base::invalid_argument(key_of("merges") + ": \"" + std::string(merge) + "\" is not a pair");
    const base::Status status = table.add(vocabulary, *left, *right);
    if (!status) return base::invalid_argument(key_of("merges") + ": " + status.error().message);
  }
  return table;
}

base::Result<TokenizerParts> load_byte_level(const checkpoint::GgufFile& file, const RawTokens& tokens) {
  const base::Result<std::string> name = string_key(file.metadata(), "pre", "default");
  if (!name) return name.error();
  base::Result<NamedPreTokenizer> named = pre_tokenizer_by_name(*name);
  if (!named) return base::unsupported(key_of("pre") + ": " + named.error().message);
  base::Result<std::unique_ptr<Vocabulary>> vocabulary =
      build_vocabulary(tokens, [](std::string_view text, std::int32_t type) -> base::Result<std::string> {
        if (type == kByte) return base::unsupported("a byte token in a byte-level vocabulary");
        const auto bytes = type == kNormal || type == kUnused ? bytes_from_alphabet(text) : std::nullopt;
        return bytes.value_or(std::string(text));
      });
  if (!vocabulary) return vocabulary.error();
  base::Result<MergeTable> merges = read_merges(file, **vocabulary);
  if (!merges) return merges.error();
  TokenizerParts parts;
  parts.vocabulary = std::move(*vocabulary);
  parts.normalizer = std::move(named->normalizer);
  parts.pre_tokenizer = std::move(named->pre_tokenizer);
  parts.model = std::make_unique<ByteLevelBpe>(*parts.vocabulary, std::move(*merges),
                                               ByteLevelBpe::Options{named->ignore_merges, std::nullopt});
  if (named->add_bos) parts.prefix = {kNoToken};
  return parts;
}

base::Result<TokenScores> read_scores(const checkpoint::GgufFile& file, std::size_t num_tokens) {
  auto scores = file.float_array(key_of("scores"));
  if (!scores) return base::not_found(key_of("scores") + " is missing or not an array of float32");
  if (scores->size() != num_tokens) {
    return base::invalid_argument(key_of("scores") + " has " + std::to_string(scores->size()) + " entries for " +
                                  std::to_string(num_tokens) + " tokens");
  }
  for (const float score : *scores) {
    if (!std::isfinite(score)) return base::invalid_argument(key_of("scores") + " holds a value that is not finite");
  }
  return std::move(*scores);
}

base::Result<Normalizer> sentencepiece_normalizer(const nlohmann::json& metadata) {
  for (const char* refused : {"remove_extra_whitespaces", "precompiled_charsmap"}) {
    const auto value = metadata.find(key_of(refused));
    if (value != metadata.end() && *value != false) return base::unsupported(key_of(refused) + " is not supported");
  }
  const base::Result<bool> add_prefix = bool_key(metadata, "add_space_prefix", true);
  if (!add_prefix) return add_prefix.error();
  base::Result<Regex> space = Regex::literal(" ");
  if (!space) return space.error();
  std::vector<NormalizerStep> steps;
  if (*add_prefix) steps.push_back(PrependText{std::string(kMetaspace)});
  steps.push_back(ReplaceText{std::move(*space), std::string(kMetaspace)});
  return Normalizer(std::move(steps));
}

base::Result<TokenizerParts> load_sentencepiece(const checkpoint::GgufFile& file, const RawTokens& tokens) {
  base::Result<TokenScores> scores = read_scores(file, tokens.texts.size());
  if (!scores) return scores.error();
  base::Result<Normalizer> normalizer = sentencepiece_normalizer(file.metadata());
  if (!normalizer) return normalizer.error();
  base::Result<std::unique_ptr<Vocabulary>> vocabulary =
      build_vocabulary(tokens, [](std::string_view text, std::int32_t type) -> base::Result<std::string> {
        if (type != kByte) return std::string(text);
        return byte_of_token(text);
      });
  if (!vocabulary) return vocabulary.error();
  TokenizerParts parts;
  parts.vocabulary = std::move(*vocabulary);
  base::Result<ByteTokenIds> bytes = byte_token_ids(*parts.vocabulary);
  if (!bytes) return bytes.error();
  base::Result<std::optional<TokenId>> unknown = token_key(file.metadata(), "unknown_token_id", *parts.vocabulary);
  if (!unknown) return unknown.error();
  const base::Result<bool> add_prefix = bool_key(file.metadata(), "add_space_prefix", true);
  parts.decoder = metaspace_decoder(*add_prefix);
  parts.normalizer = std::move(*normalizer);
  parts.model = std::make_unique<SentencePieceBpe>(
      *parts.vocabulary, std::move(*scores),
      SentencePieceBpe::Options{.fuse_unknown = true, .unknown = *unknown, .byte_ids = *bytes});
  parts.prefix = {kNoToken};
  return parts;
}

// BOS, EOS and the ends of a generation. `parts.prefix` is not empty where BOS is added unless the file says otherwise.
base::Status add_control_tokens(const nlohmann::json& metadata, TokenizerParts& parts) {
  const base::Result<bool> add_bos = bool_key(metadata, "add_bos_token", !parts.prefix.empty());
  if (!add_bos) return add_bos.error();
  const base::Result<bool> add_eos = bool_key(metadata, "add_eos_token", false);
  if (!add_eos) return add_eos.error();
  const auto bos = token_key(metadata, "bos_token_id", *parts.vocabulary);
  if (!bos) return bos.error();
  const auto eos = token_key(metadata, "eos_token_id", *parts.vocabulary);
  if (!eos) return eos.error();
  parts.bos = *bos;
  parts.eos = *eos;
  parts.prefix.clear();
  if (*add_bos && *bos) parts.prefix.push_back(**bos);
  if (*add_eos && *eos) parts.suffix.push_back(**eos);
  for (const char* name : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    const auto end = token_key(metadata, name, *parts.vocabulary);
    if (!end) return end.error();
    if (*end) parts.end_of_generation.push_back(**end);
  }
  complete_end_of_generation(*parts.vocabulary, parts.end_of_generation);
  return base::ok_status();
}

}  // namespace

base::Result<TokenizerParts> load_gguf_tokenizer(const checkpoint::GgufFile& file) {
  const base::Result<std::string> model = string_key(file.metadata(), "model", "");
  if (!model) return model.error();
  if (model->empty()) return base::not_found(key_of("model") + " is missing");
  if (*model != "gpt2" && *model != "llama") {
    return base::unsupported(key_of("model") + " \"" + *model + "\" is not supported (supported: gpt2, llama)");
  }
  const base::Result<RawTokens> tokens = read_tokens(file);
  if (!tokens) return tokens.error();
  base::Result<TokenizerParts> parts =
      *model == "gpt2" ? load_byte_level(file, *tokens) : load_sentencepiece(file, *tokens);
  if (!parts) return parts;
  parts->added_tokens = added_tokens_of(*parts->vocabulary);
  const base::Status status = add_control_tokens(file.metadata(), *parts);
  if (!status) return status.error();
  return parts;
}

}  // namespace trireme::tokenizer
