#include "launch/request_json/parse_request.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "launch/request_json/prompt_fields.h"
#include "launch/request_json/sampling_fields.h"

namespace trireme::launch {
namespace {

constexpr std::size_t kMaxNameBytes = 4096;
constexpr std::int32_t kCompletionsMaxTokens = 16;

// Answering as if these had not been asked for would be a wrong answer.
void refuse_what_is_not_done(FieldReader& reader, RequestForm form) {
  const std::string why = "is not supported";
  if (form == RequestForm::kChat) {
    for (const char* name : {"tools", "functions", "audio", "modalities", "prediction"}) reader.refuse(name, why);
    reader.refuse("continue_final_message", why);
  }
  if (form == RequestForm::kCompletions) {
    for (const char* name : {"suffix", "echo", "best_of"}) {
      const nlohmann::json* value = reader.value(name);
      const bool harmless = value == nullptr || *value == false || *value == "" || *value == 1;
      if (!harmless) reader.fail(name, why);
    }
  }
  if (const nlohmann::json* format = reader.value("response_format")) {
    const bool plain = format->is_object() && format->contains("type") && (*format)["type"] == "text";
    if (!plain) reader.fail("response_format", "only {\"type\": \"text\"} is supported");
  }
}

// What else the chat template gets, such as enable_thinking.
void read_template_variables(FieldReader& reader, RequestSpec& spec) {
  const nlohmann::json* variables = reader.value("chat_template_kwargs");
  if (variables == nullptr) return;
  if (!variables->is_object()) {
    reader.fail("chat_template_kwargs", "must be an object");
    return;
  }
  spec.template_variables = variables->dump();
}

// Known, and of no effect on the tokens.
void skip_what_has_no_effect(FieldReader& reader) {
  for (const char* name : {"user", "stream_options", "metadata", "store", "service_tier", "tool_choice",
                           "parallel_tool_calls", "skip_special_tokens", "add_generation_prompt"}) {
    reader.ignore(name);
  }
}

}  // namespace

RequestSpec default_spec(RequestForm form) {
  RequestSpec spec;
  if (form == RequestForm::kPlain) return spec;
  spec.sampling.temperature = 1.0f;
  if (form == RequestForm::kCompletions) spec.max_tokens = kCompletionsMaxTokens;
  return spec;
}

std::variant<ParsedRequest, RequestError> parse_request(const nlohmann::json& body, RequestForm form,
                                                        const RequestSpec& defaults,
                                                        const std::vector<std::string>& ignored) {
  if (!body.is_object()) return RequestError{"", "the request must be a JSON object"};
  FieldReader reader(body);
  ParsedRequest parsed;
  parsed.spec = defaults;
  std::vector<PromptSource> prompts = read_prompt_fields(reader, form);
  read_sampling_fields(reader, form, parsed.spec);
  if (auto adapter = reader.text("adapter", kMaxNameBytes, Null::kAbsent)) parsed.spec.adapter = std::move(*adapter);
  if (form != RequestForm::kCompletions) read_template_variables(reader, parsed.spec);
  if (form != RequestForm::kPlain) {
    parsed.model = reader.text("model", kMaxNameBytes, Null::kAbsent).value_or("");
    parsed.stream = reader.boolean("stream", Null::kAbsent).value_or(false);
    refuse_what_is_not_done(reader, form);
    skip_what_has_no_effect(reader);
  }
  if (reader.error()) return *reader.error();
  for (const std::string& name : ignored) reader.ignore(name);
  parsed.unknown_fields = reader.unknown_fields();
  parsed.spec.prompt = std::move(prompts.front());
  parsed.more_prompts.assign(std::make_move_iterator(prompts.begin() + 1), std::make_move_iterator(prompts.end()));
  return parsed;
}

}  // namespace trireme::launch
