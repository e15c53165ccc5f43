#include "launch/batch/batch_line.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/split_mix.h"
#include "runtime/checkpoint/bounded_json.h"

namespace trireme::launch {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxIdBytes = 1024;

BatchForm form_of(const json& object) {
  const bool openai = object.contains("custom_id") || object.contains("body") || object.contains("url");
  return openai ? BatchForm::kOpenAi : BatchForm::kPlain;
}

std::string place_of(const InputLine& line) {
  return "line " + std::to_string(line.number);
}

// "id" of a plain line: text or a whole number, or none.
RowId read_id(FieldReader& reader) {
  const json* id = reader.value("id");
  if (id == nullptr) return {};
  if (id->is_number_integer() && (!id->is_number_unsigned() || id->get<std::uint64_t>() <= INT64_MAX)) {
    return id->get<std::int64_t>();
  }
  if (id->is_string() && id->get_ref<const std::string&>().size() <= kMaxIdBytes) return id->get<std::string>();
  reader.fail("id", "must be a text of at most " + std::to_string(kMaxIdBytes) + " bytes, or a whole number");
  return {};
}

void take_request(std::variant<ParsedRequest, RequestError> parsed, BatchLine& line) {
  if (auto* error = std::get_if<RequestError>(&parsed)) {
    line.request = std::move(*error);
    return;
  }
  auto& request = std::get<ParsedRequest>(parsed);
  line.identity.model = std::move(request.model);
  line.unknown_fields = std::move(request.unknown_fields);
  if (!request.more_prompts.empty()) {
    line.request = RequestError{"prompt", "prompt: a line takes one prompt; give the others lines of their own"};
  } else if (request.stream) {
    line.request = RequestError{"stream", "stream: a batch job does not stream"};
  } else {
    line.request = std::move(request.spec);
  }
}

void parse_plain(const json& object, const RequestSpec& defaults, BatchLine& line) {
  FieldReader reader(object);
  line.identity.id = read_id(reader);
  if (reader.error()) {
    line.request = *reader.error();
    return;
  }
  take_request(parse_request(object, RequestForm::kPlain, defaults, {"id"}), line);
}

std::optional<RequestForm> form_of_url(const std::string& url) {
  if (url == "/v1/chat/completions") return RequestForm::kChat;
  if (url == "/v1/completions") return RequestForm::kCompletions;
  return std::nullopt;
}

void parse_openai(const json& object, std::uint64_t seed, BatchLine& line) {
  FieldReader reader(object);
  if (auto id = reader.text("custom_id", kMaxIdBytes)) {
    line.identity.id = std::move(*id);
  } else {
    reader.fail("custom_id", "is missing");
  }
  const std::string method = reader.text("method", kMaxIdBytes).value_or("POST");
  const auto url = reader.text("url", kMaxIdBytes);
  if (method != "POST") reader.fail("method", "must be POST");
  const auto form = url ? form_of_url(*url) : std::nullopt;
  if (!form) reader.fail("url", "must be /v1/completions or /v1/chat/completions");
  const json* body = reader.value("body");
  if (body == nullptr || !body->is_object()) reader.fail("body", "must be an object");
  if (!form || reader.error()) {
    line.request = *reader.error();
    return;
  }
  line.identity.request_form = *form;
  RequestSpec defaults = default_spec(*form);
  defaults.sampling.seed = seed;
  take_request(parse_request(*body, *form, defaults), line);
}

}  // namespace

std::optional<BatchForm> form_of_line(const InputLine& line) {
  if (line.is_blank() || line.is_too_long) return std::nullopt;
  const auto object = checkpoint::parse_bounded_json(line.text, place_of(line));
  if (!object || !object->is_object()) return std::nullopt;
  return form_of(*object);
}

std::uint64_t seed_of_line(std::uint64_t job_seed, std::uint64_t line) {
  return base::split_mix64(job_seed, line) >> 11;
}

BatchLine BatchLineParser::parse(const InputLine& input) const {
  BatchLine line;
  line.identity.line = input.number;
  line.identity.form = form_;
  const auto wrong = [&line](std::string message) { line.request = RequestError{"", std::move(message)}; };
  if (input.is_too_long) {
    wrong("the line has more than " + std::to_string(LineReader::kMaxLineBytes >> 20) + " MiB");
    return line;
  }
  if (input.is_blank()) {
    wrong("the line is blank");
    return line;
  }
  const auto object = checkpoint::parse_bounded_json(input.text, place_of(input));
  if (!object || !object->is_object()) {
    wrong(object ? place_of(input) + ": not a JSON object" : object.error().message);
    return line;
  }
  line.identity.form = form_of(*object);
  const std::uint64_t seed = seed_of_line(defaults_.sampling.seed, input.number);
  if (line.identity.form == BatchForm::kOpenAi) {
    parse_openai(*object, seed, line);
    return line;
  }
  RequestSpec defaults = defaults_;
  defaults.sampling.seed = seed;
  parse_plain(*object, defaults, line);
  return line;
}

}  // namespace trireme::launch
