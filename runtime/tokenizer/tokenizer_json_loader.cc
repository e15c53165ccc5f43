#include <algorithm>
#include <string>
#include <utility>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/byte_level_bpe.h"
#include "runtime/tokenizer/generation_ends.h"
#include "runtime/tokenizer/json_error.h"
#include "runtime/tokenizer/loaders.h"
#include "runtime/tokenizer/sentencepiece_bpe.h"
#include "runtime/tokenizer/tokenizer_json_file.h"
#include "runtime/tokenizer/tokenizer_json_steps.h"

namespace trireme::tokenizer {
namespace {

using nlohmann::json;

json value_or_null(const json& object, const char* key) {
  const auto value = object.find(key);
  return value == object.end() ? json() : *value;
}

// A field of the model that must be absent, null or empty for the tokenizer to work as it is written here.
base::Status refuse_field(const json& model, const char* key) {
  const json value = value_or_null(model, key);
  const bool harmless = value.is_null() || value == "" || (value.is_number() && value == 0);
  if (harmless) return base::ok_status();
  return base::unsupported(std::string("model.") + key + " is not supported");
}

base::Status check_model(const json& model) {
  const auto& type = model.at("type").get_ref<const std::string&>();
  if (type != "BPE") return unsupported_type("model", type);
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const base::Status status = refuse_field(model, key);
    if (!status) return status;
  }
  return base::ok_status();
}

struct ModelFlags {
  bool byte_level = false;
  bool byte_fallback = false;
};

base::Status add_model_token(const std::string& token, TokenId id, ModelFlags flags, Vocabulary& vocabulary) {
  const auto byte = flags.byte_fallback ? parse_byte_token(token) : std::nullopt;
  if (byte) return vocabulary.add(id, std::string(1, static_cast<char>(*byte)), TokenKind::kByte);
  const auto bytes = flags.byte_level ? bytes_from_alphabet(token) : std::optional(token);
  const base::Status status = vocabulary.add(id, bytes.value_or(token), TokenKind::kNormal);
  // A token with characters that the byte alphabet does not have can only be an added one: no word becomes it.
  if (!status || !bytes) return status;
  return vocabulary.index(id);
}

base::Result<std::unique_ptr<Vocabulary>> build_vocabulary(const TokenizerJson& file, ModelFlags flags) {
  auto vocabulary = std::make_unique<Vocabulary>();
  vocabulary->reserve(file.vocab.size(), 8 * file.vocab.size());
  for (const auto& [token, id] : file.vocab) {
    const base::Status status = add_model_token(token, id, flags, *vocabulary);
    if (!status) return base::invalid_argument("model.vocab: \"" + token + "\": " + status.error().message);
  }
  return vocabulary;
}

// Puts one added token into the vocabulary, where the model may already have it.
base::Status register_added_token(const AddedToken& token, Vocabulary& vocabulary) {
  const TokenKind kind = token.special ? TokenKind::kSpecial : TokenKind::kUserDefined;
  if (vocabulary.kind(token.id) == TokenKind::kUnused) return vocabulary.add(token.id, token.content, kind);
  if (vocabulary.bytes(token.id) != token.content) {
    // In a byte-level vocabulary the model's entry may be the same characters written in the byte alphabet.
    if (bytes_from_alphabet(token.content).value_or("") != vocabulary.bytes(token.id)) {
      return base::invalid_argument("added_tokens: \"" + token.content + "\" has the id of another token, " +
                                    std::to_string(token.id));
    }
  }
  vocabulary.set_kind(token.id, kind);
  return base::ok_status();
}

base::Result<AddedToken> parse_added_token(const json& object) {
  const json& id = object.at("id");
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(Vocabulary::kMaxSize)) {
    return base::invalid_argument("added_tokens: an id is out of range");
  }
  return AddedToken{.content = object.at("content").get<std::string>(),
                    .id = id.get<TokenId>(),
                    .special = object.value("special", false),
                    .single_word = object.value("single_word", false),
                    .lstrip = object.value("lstrip", false),
                    .rstrip = object.value("rstrip", false)};
}

base::Status load_added_tokens(const json& list, TokenizerParts& parts) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  for (const json& object : list) {
    base::Result<AddedToken> token = parse_added_token(object);
    if (!token) return token.error();
    if (token->content.empty()) continue;
    const base::Status status = register_added_token(*token, *parts.vocabulary);
    if (!status) return status;
    if (!object.value("normalized", !token->special)) {
      raw.push_back(std::move(*token));
      continue;
    }
    const base::Result<std::string> content = parts.normalizer.apply(token->content);
    if (!content) return content.error();
    token->content = *content;
    if (!token->content.empty()) normalized.push_back(std::move(*token));
  }
  parts.added_tokens = AddedTokens(std::move(raw));
  parts.normalized_added_tokens = AddedTokens(std::move(normalized));
  return base::ok_status();
}

base::Result<std::unique_ptr<WordModel>> build_model(const TokenizerJson& file, ModelFlags flags,
                                                     const Vocabulary& vocabulary) {
  const json& model = file.rest.at("model");
  if (file.merges.size() > MergeTable::kMaxMerges) return base::invalid_argument("model.merges is too long");
  MergeTable merges(file.merges.size());
  for (const auto& [left, right] : file.merges) {
    const auto left_bytes = flags.byte_level ? bytes_from_alphabet(left) : std::optional(left);
    const auto right_bytes = flags.byte_level ? bytes_from_alphabet(right) : std::optional(right);
    const base::Status status = merges.add(vocabulary, left_bytes.value_or(left), right_bytes.value_or(right));
    if (!status) return base::invalid_argument("model.merges: " + status.error().message);
  }
  std::optional<TokenId> unknown;
  if (const json token = value_or_null(model, "unk_token"); !token.is_null()) {
    unknown = vocabulary.find(token.get_ref<const std::string&>());
    if (!unknown) return base::invalid_argument("model.unk_token is not in the vocabulary");
  }
  const bool ignore_merges = model.value("ignore_merges", false);
  if (flags.byte_level) {
    return std::unique_ptr<WordModel>(
        std::make_unique<ByteLevelBpe>(vocabulary, std::move(merges), ByteLevelBpe::Options{ignore_merges, unknown}));
  }
  SentencePieceBpe::Options options{ignore_merges, model.value("fuse_unk", false), unknown, {}};
  options.byte_ids.fill(kNoToken);
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.kind(id) == TokenKind::kByte)
      options.byte_ids[static_cast<unsigned char>(vocabulary.bytes(id)[0])] = id;
  }
  return std::unique_ptr<WordModel>(std::make_unique<SentencePieceBpe>(vocabulary, std::move(merges), options));
}

// The parts that tokenizer.json alone decides.
base::Result<TokenizerParts> parts_of(const TokenizerJson& file) {
  const json& model = file.rest.at("model");
  const base::Status supported = check_model(model);
  if (!supported) return supported.error();
  base::Result<Normalizer> normalizer = parse_normalizer(value_or_null(file.rest, "normalizer"));
  if (!normalizer) return normalizer.error();
  base::Result<ParsedPreTokenizer> pre_tokenizer = parse_pre_tokenizer(value_or_null(file.rest, "pre_tokenizer"));
  if (!pre_tokenizer) return pre_tokenizer.error();
  const base::Result<ParsedDecoder> decoder = parse_decoder(value_or_null(file.rest, "decoder"));
  if (!decoder) return decoder.error();
  if (decoder->byte_level && !pre_tokenizer->byte_level) {
    return base::unsupported("decoder ByteLevel without a ByteLevel pre_tokenizer is not supported");
  }
  const ModelFlags flags{pre_tokenizer->byte_level, model.value("byte_fallback", false)};
  base::Result<std::unique_ptr<Vocabulary>> vocabulary = build_vocabulary(file, flags);
  if (!vocabulary) return vocabulary.error();
  TokenizerParts parts;
  parts.vocabulary = std::move(*vocabulary);
  parts.normalizer = std::move(*normalizer);
  parts.pre_tokenizer = std::move(pre_tokenizer->pre_tokenizer);
  parts.decoder = decoder->decoder;
  base::Result<std::unique_ptr<WordModel>> words = build_model(file, flags, *parts.vocabulary);
  if (!words) return words.error();
  parts.model = std::move(*words);
  const base::Status added = load_added_tokens(value_or_null(file.rest, "added_tokens"), parts);
  if (!added) return added.error();
  base::Result<ParsedPostProcessor> post_processor = parse_post_processor(value_or_null(file.rest, "post_processor"));
  if (!post_processor) return post_processor.error();
  parts.prefix = std::move(post_processor->prefix);
  parts.suffix = std::move(post_processor->suffix);
  for (const std::vector<TokenId>* ids : {&parts.prefix, &parts.suffix}) {
    for (const TokenId id : *ids) {
      if (!parts.vocabulary->contains(id))
        return base::invalid_argument("post_processor: an id is not in the vocabulary");
    }
  }
  return parts;
}

// A token of tokenizer_config.json: its text, or an object with it as "content".
std::optional<TokenId> configured_token(const json& config, const char* key, const TokenizerParts& parts) {
  json value = value_or_null(config, key);
  if (value.is_object()) value = value_or_null(value, "content");
  if (!value.is_string()) return std::nullopt;
  const auto& content = value.get_ref<const std::string&>();
  if (const auto id = parts.added_tokens.find(content)) return id;
  return parts.vocabulary->find(content);
}

// A file beside tokenizer.json that need not exist.
base::Result<json> read_optional(const std::filesystem::path& path) {
  base::Result<json> value = read_json_object(path);
  if (!value && value.error().code == base::ErrorCode::kNotFound) return json::object();
  return value;
}

base::Status add_control_tokens(const std::filesystem::path& directory, const json& config, TokenizerParts& parts) {
  const base::Result<json> tokenizer_config = read_optional(directory / "tokenizer_config.json");
  if (!tokenizer_config) return tokenizer_config.error();
  const base::Result<json> generation_config = read_optional(directory / "generation_config.json");
  if (!generation_config) return generation_config.error();
  parts.bos = configured_token(*tokenizer_config, "bos_token", parts);
  if (!parts.bos) {
    std::vector<TokenId> ids;
    const base::Status status =
        append_token_ids(value_or_null(config, "bos_token_id"), "bos_token_id", *parts.vocabulary, ids);
    if (status && ids.size() == 1) parts.bos = ids.front();
  }
  const json add_bos = value_or_null(*tokenizer_config, "add_bos_token");
  if (add_bos.is_boolean() && parts.bos) {
    std::erase(parts.prefix, *parts.bos);
    if (add_bos.get<bool>()) parts.prefix.insert(parts.prefix.begin(), *parts.bos);
  }
  std::vector<TokenId>& ends = parts.end_of_generation;
  parts.eos = configured_token(*tokenizer_config, "eos_token", parts);
  if (parts.eos) ends.push_back(*parts.eos);
  const json text_config = value_or_null(config, "text_config");
  for (const json* object : {&*generation_config, &config, &text_config}) {
    if (!object->is_object()) continue;
    const base::Status status =
        append_token_ids(value_or_null(*object, "eos_token_id"), "eos_token_id", *parts.vocabulary, ends);
    if (!status) return status;
  }
  if (!parts.eos && !ends.empty()) parts.eos = ends.front();
  complete_end_of_generation(*parts.vocabulary, ends);
  return base::ok_status();
}

}  // namespace

base::Result<TokenizerParts> load_hugging_face_tokenizer(const std::filesystem::path& directory, const json& config) {
  const std::filesystem::path path = directory / "tokenizer.json";
  const base::Result<TokenizerJson> file = read_tokenizer_json(path);
  if (!file) return file.error();
  base::Result<TokenizerParts> parts =
      with_json_errors("the tokenizer", [&]() -> base::Result<TokenizerParts> { return parts_of(*file); });
  if (!parts) return base::Error{parts.error().code, path.string() + ": " + parts.error().message};
  const base::Status status = add_control_tokens(directory, config, *parts);
  if (!status) return base::Error{status.error().code, directory.string() + ": " + status.error().message};
  return parts;
}

}  // namespace trireme::tokenizer
