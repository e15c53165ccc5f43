// Decoder and post-processor of tokenizer.json.
#include <limits>
#include <string>

#include "runtime/tokenizer/json_error.h"
#include "runtime/tokenizer/metaspace.h"
#include "runtime/tokenizer/tokenizer_json_steps.h"

namespace trireme::tokenizer {
namespace {

using nlohmann::json;

base::Status add_decoder_step(const json& step, ParsedDecoder& parsed) {
  const auto& type = step.at("type").get_ref<const std::string&>();
  if (type == "ByteLevel") {
    parsed.byte_level = true;
  } else if (type == "Replace") {
    const json expected = {{"String", kMetaspace}};
    if (step.at("pattern") != expected || step.at("content") != " ") {
      return base::unsupported("decoder Replace of anything but U+2581 by a space is not supported");
    }
    parsed.decoder.metaspace = true;
  } else if (type == "Strip") {
    if (step.at("content") != " " || step.at("start") != 1 || step.at("stop") != 0) {
      return base::unsupported("decoder Strip of anything but one leading space is not supported");
    }
    parsed.decoder.strip_leading_space = true;
  } else if (type == "Metaspace") {
    if (step.value("replacement", std::string(kMetaspace)) != kMetaspace) {
      return base::unsupported("decoder Metaspace with another replacement than U+2581 is not supported");
    }
    parsed.decoder.metaspace = true;
    parsed.decoder.strip_leading_space =
        step.value("prepend_scheme", step.value("add_prefix_space", true) ? "always" : "never") != "never";
  } else if (type != "ByteFallback" && type != "Fuse") {  // these two are how decoding to bytes works anyway
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
    std::vector<json> objects;
    flatten_sequence(object, "decoders", objects);
    ParsedDecoder parsed;
    for (const json& step : objects) {
      const base::Status status = add_decoder_step(step, parsed);
      if (!status) return status.error();
    }
    return parsed;
  });
}

base::Result<ParsedPostProcessor> parse_post_processor(const json& object) {
  return with_json_errors("post_processor", [&]() -> base::Result<ParsedPostProcessor> {
    std::vector<json> objects;
    flatten_sequence(object, "processors", objects);
    ParsedPostProcessor parsed;
    bool has_template = false;
    for (const json& step : objects) {
      const auto& type = step.at("type").get_ref<const std::string&>();
      if (type == "ByteLevel") continue;  // changes offsets only
      if (type != "TemplateProcessing") return unsupported_type("post_processor", type);
      if (has_template) return base::unsupported("post_processor: two templates are not supported");
      has_template = true;
      const base::Status status = add_template(step, parsed);
      if (!status) return status.error();
    }
    return parsed;
  });
}

}  // namespace trireme::tokenizer
