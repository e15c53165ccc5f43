#include <algorithm>
#include <string>
#include <utility>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/generation_ends.h"
#include "runtime/tokenizer/json_error.h"
#include "runtime/tokenizer/loaders.h"
#include "runtime/tokenizer/tokenizer_json_file.h"
#include "runtime/tokenizer/tokenizer_json_model.h"
#include "runtime/tokenizer/tokenizer_json_steps.h"

namespace trireme::tokenizer {
namespace {

using nlohmann::json;

// Puts one added token into the vocabulary, where the model may already have it.
base::Status register_added_token(const AddedToken& token, Vocabulary& vocabulary) {
  const TokenKind kind = token.special ? TokenKind::kSpecial : TokenKind::kUserDefined;
  if (vocabulary.kind(token.id) == TokenKind::kUnused) return vocabulary.add(token.id, token.content, kind);
  if (vocabulary.kind(token.id) == TokenKind::kByte) {
    const auto byte = parse_byte_token(token.content);
    if (byte && vocabulary.bytes(token.id) == std::string(1, static_cast<char>(*byte))) return base::ok_status();
  }
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

base::Status load_post_processor(const json& object, TokenizerParts& parts) {
  base::Result<ParsedPostProcessor> post_processor = parse_post_processor(object);
  if (!post_processor) return post_processor.error();
  parts.prefix = std::move(post_processor->prefix);
  parts.suffix = std::move(post_processor->suffix);
  for (const std::vector<TokenId>* ids : {&parts.prefix, &parts.suffix}) {
    for (const TokenId id : *ids) {
      if (parts.vocabulary->kind(id) == TokenKind::kUnused) {
        return base::invalid_argument("post_processor: id " + std::to_string(id) + " is not in the vocabulary");
      }
    }
  }
  return base::ok_status();
}

// The parts that tokenizer.json alone decides.
base::Result<TokenizerParts> parts_of(const TokenizerJson& file) {
  const json& model = file.rest.at("model");
  const base::Result<std::string> type = model_type(model);
  if (!type) return type.error();
  base::Result<Normalizer> normalizer = parse_normalizer(value_or_null(file.rest, "normalizer"));
  if (!normalizer) return normalizer.error();
  base::Result<ParsedPreTokenizer> pre_tokenizer = parse_pre_tokenizer(value_or_null(file.rest, "pre_tokenizer"));
  if (!pre_tokenizer) return pre_tokenizer.error();
  base::Result<ParsedDecoder> decoder = parse_decoder(value_or_null(file.rest, "decoder"));
  if (!decoder) return decoder.error();
  const bool as_bytes =
      *type == "BPE" && works_on_bytes(model) && pre_tokenizer->ends_in_byte_alphabet && decoder->reads_byte_alphabet;
  if (as_bytes) {
    pre_tokenizer->steps.pop_back();
    decoder->decoder = TokenDecoder();
  }
  base::Result<std::unique_ptr<Vocabulary>> vocabulary = build_vocabulary(file, as_bytes);
  if (!vocabulary) return vocabulary.error();
  TokenizerParts parts;
  parts.vocabulary = std::move(*vocabulary);
  parts.normalizer = std::move(*normalizer);
  parts.pre_tokenizer = PreTokenizer(std::move(pre_tokenizer->steps));
  parts.decoder = std::move(decoder->decoder);
  const base::Status added = load_added_tokens(value_or_null(file.rest, "added_tokens"), parts);
  if (!added) return added.error();
  base::Result<std::unique_ptr<WordModel>> words = build_model(file, as_bytes, *parts.vocabulary, parts.added_tokens);
  if (!words) return words.error();
  parts.model = std::move(*words);
  const base::Status post_processor = load_post_processor(value_or_null(file.rest, "post_processor"), parts);
  if (!post_processor) return post_processor.error();
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
base::Result<json> read_optional(const checkpoint::SideFiles& files, const std::string& name) {
  const base::Result<std::string> text = files.read(name);
  if (!text && text.error().code == base::ErrorCode::kNotFound) return json::object();
  if (!text) return text.error();
  return parse_json_object(*text, files.where(name));
}

base::Status add_control_tokens(const checkpoint::SideFiles& files, const json& config, TokenizerParts& parts) {
  const base::Result<json> tokenizer_config = read_optional(files, "tokenizer_config.json");
  if (!tokenizer_config) return tokenizer_config.error();
  const base::Result<json> generation_config = read_optional(files, "generation_config.json");
  if (!generation_config) return generation_config.error();
  if (const auto bos = configured_token(*tokenizer_config, "bos_token", parts)) parts.bos = bos;
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
  if (const auto eos = configured_token(*tokenizer_config, "eos_token", parts)) parts.eos = eos;
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

base::Result<TokenizerParts> parse_tokenizer(const std::string& text) {
  const base::Result<TokenizerJson> file = parse_tokenizer_json(text);
  if (!file) return file.error();
  return with_json_errors("the tokenizer", [&]() -> base::Result<TokenizerParts> { return parts_of(*file); });
}

base::Result<TokenizerParts> load_tokenizer_json(const std::filesystem::path& path) {
  const base::Result<std::string> text = read_tokenizer_file(path);
  if (!text) return text.error();
  base::Result<TokenizerParts> parts = parse_tokenizer(*text);
  if (!parts) return base::Error{parts.error().code, path.string() + ": " + parts.error().message};
  return parts;
}

base::Result<TokenizerParts> load_hugging_face_tokenizer(const std::filesystem::path& directory, const json& config) {
  return load_hugging_face_tokenizer(checkpoint::DirectoryFiles(directory), config);
}

base::Result<TokenizerParts> load_hugging_face_tokenizer(const checkpoint::SideFiles& files, const json& config) {
  std::string name = "tokenizer.json";
  base::Result<std::string> text = files.read(name);
  const base::Result<std::string> model = text ? base::not_found("") : files.read("tokenizer.model");
  if (!text && text.error().code == base::ErrorCode::kNotFound && model) name = "tokenizer.model";
  if (!text && !model) return text.error();
  base::Result<TokenizerParts> parts = text ? parse_tokenizer(*text) : parse_sentencepiece_model(*model);
  if (!parts) return base::Error{parts.error().code, files.where(name) + ": " + parts.error().message};
  const base::Status status = add_control_tokens(files, config, *parts);
  if (!status) return base::Error{status.error().code, files.where("") + ": " + status.error().message};
  return parts;
}

}  // namespace trireme::tokenizer
