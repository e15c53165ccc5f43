// Decoder and post-processor of tokenizer.json.
#include <limits>
#include <string>
#include <utility>

#include "runtime/tokenizer/json_error.h"
#include "runtime/tokenizer/metaspace.h"
#include "runtime/tokenizer/tokenizer_json_steps.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

using nlohmann::json;

// A decoder that is being put together. After "Fuse" the steps see the whole text instead of each token.
struct DecoderParts {
  std::vector<DecoderStep> of_token;
  std::vector<StripDecode> of_text;
  bool fused = false;
};

base::Status add_replace(const json& step, DecoderParts& parts) {
  base::Result<Regex> regex = parse_pattern(step.at("pattern"));
  if (!regex) return regex.error();
  parts.of_token.emplace_back(ReplaceDecode{std::move(*regex), step.at("content").get<std::string>()});
  return base::ok_status();
}

base::Status add_strip(const json& step, DecoderParts& parts) {
  StripDecode strip{step.at("content").get<std::string>(), step.at("start").get<std::size_t>(),
                    step.at("stop").get<std::size_t>()};
  if (strip.content.empty()) return base::invalid_argument("decoder Strip: content is empty");
  if (!parts.fused) {
    parts.of_token.emplace_back(std::move(strip));
  } else if (strip.at_end == 0) {
    parts.of_text.push_back(std::move(strip));
  } else {
    return base::unsupported("decoder Strip at the end of a text is not supported");
  }
  return base::ok_status();
}

base::Status add_metaspace(const json& step, DecoderParts& parts) {
  MetaspaceDecode metaspace{
      step.value("replacement", std::string(kMetaspace)),
      step.value("prepend_scheme", step.value("add_prefix_space", true) ? "always" : "never") != "never"};
  if (!is_one_character(metaspace.replacement)) {
    return base::invalid_argument("decoder Metaspace: replacement is not one character");
  }
  parts.of_token.emplace_back(std::move(metaspace));
  return base::ok_status();
}

base::Status add_decoder_step(const json& step, DecoderParts& parts) {
  const auto& type = step.at("type").get_ref<const std::string&>();
  if (type == "Strip") return add_strip(step, parts);
  if (type == "ByteFallback") return base::ok_status();  // how decoding to bytes works anyway
  if (type == "Fuse") {
    parts.fused = true;
    return base::ok_status();
  }
  if (parts.fused) return base::unsupported("decoder " + type + " after Fuse is not supported");
  if (type == "Replace") return add_replace(step, parts);
  if (type == "Metaspace") return add_metaspace(step, parts);
  if (type == "ByteLevel") {
    parts.of_token.emplace_back(ByteLevelDecode{});
  } else if (type == "WordPiece") {
    parts.of_token.emplace_back(WordPieceDecode{step.value("prefix", "##"), step.value("cleanup", true)});
  } else if (type == "BPEDecoder") {
    parts.of_token.emplace_back(WordEndDecode{step.value("suffix", "</w>")});
  } else {
    return unsupported_type("decoder", type);
  }
  return base::ok_status();
}

base::Status add_template_ids(const json& ids, std::vector<TokenId>& output) {
  for (const json& id : ids) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > std::numeric_limits<TokenId>::max()) {
      return base::invalid_argument("post_processor: special_tokens holds something else than ids");
    }
    output.push_back(id.get<TokenId>());
  }
  return base::ok_status();
}

// BertProcessing and RobertaProcessing: "cls": ["[CLS]", 101] before the text, "sep" after it.
base::Status add_cls_and_sep(const json& step, ParsedPostProcessor& parsed) {
  const base::Status status = add_template_ids(json::array({step.at("cls").at(1)}), parsed.prefix);
  return status ? add_template_ids(json::array({step.at("sep").at(1)}), parsed.suffix) : status;
}

// "single": special tokens, the text as Sequence A, special tokens.
base::Status add_template(const json& step, ParsedPostProcessor& parsed) {
  bool after_text = false;
  for (const json& piece : step.at("single")) {
    if (piece.contains("Sequence")) {
      if (after_text || piece.at("Sequence").at("id") != "A") {
        return base::unsupported("post_processor: a template that does not hold the text exactly once");
      }
      after_text = true;
      continue;
    }
    const auto& name = piece.at("SpecialToken").at("id").get_ref<const std::string&>();
    const json& ids = step.at("special_tokens").at(name).at("ids");
    const base::Status status = add_template_ids(ids, after_text ? parsed.suffix : parsed.prefix);
    if (!status) return status;
  }
  if (!after_text) return base::unsupported("post_processor: a template that does not hold the text exactly once");
  return base::ok_status();
}

}  // namespace

base::Result<ParsedDecoder> parse_decoder(const json& object) {
  return with_json_errors("decoder", [&]() -> base::Result<ParsedDecoder> {
    // Without a decoder, tokens are words.
    if (object.is_null()) return ParsedDecoder{TokenDecoder({}, {}, true)};
    std::vector<json> objects;
    flatten_sequence(object, "decoders", objects);
    DecoderParts parts;
    for (const json& step : objects) {
      const base::Status status = add_decoder_step(step, parts);
      if (!status) return status.error();
    }
    const bool reads_byte_alphabet = parts.of_text.empty() && parts.of_token.size() == 1 &&
                                     std::holds_alternative<ByteLevelDecode>(parts.of_token.front());
    return ParsedDecoder{TokenDecoder(std::move(parts.of_token), std::move(parts.of_text)), reads_byte_alphabet};
  });
}

base::Result<ParsedPostProcessor> parse_post_processor(const json& object) {
  return with_json_errors("post_processor", [&]() -> base::Result<ParsedPostProcessor> {
    std::vector<json> objects;
    flatten_sequence(object, "processors", objects);
    ParsedPostProcessor parsed;
    for (const json& step : objects) {
      const auto& type = step.at("type").get_ref<const std::string&>();
      if (type == "ByteLevel") continue;  // changes offsets only
      ParsedPostProcessor added;
      base::Status status = base::ok_status();
      if (type == "TemplateProcessing") {
        status = add_template(step, added);
      } else if (type == "BertProcessing" || type == "RobertaProcessing") {
        status = add_cls_and_sep(step, added);
      } else {
        return unsupported_type("post_processor", type);
      }
      if (!status) return status.error();
      parsed.prefix.insert(parsed.prefix.begin(), added.prefix.begin(), added.prefix.end());
      parsed.suffix.insert(parsed.suffix.end(), added.suffix.begin(), added.suffix.end());
    }
    return parsed;
  });
}

}  // namespace trireme::tokenizer
