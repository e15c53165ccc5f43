// Text to tokens and back, in vLLM's shapes.
#include <nlohmann/json.hpp>

#include "launch/request_json/prompt_fields.h"
#include "launch/server/http/api.h"
#include "launch/server/http/error_body.h"
#include "runtime/checkpoint/bounded_json.h"

namespace trireme::http {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Tokens = std::vector<std::int32_t>;

HttpResponse error_of(const launch::RequestError& error) {
  return error_response(400, error.message, error.field);
}

base::Result<Tokens> encode(const server::ServedModel& model, launch::PromptSource prompt, bool add_special) {
  if (const auto* text = std::get_if<std::string>(&prompt)) {
    tokenizer::EncodeOptions options;
    options.add_special = add_special;
    return model.tokenizer->encode(*text, options);
  }
  launch::RequestSpec spec;
  spec.prompt = std::move(prompt);
  auto request = model.binder->bind(std::move(spec));
  if (!request) return request.error();
  return std::move(request->prompt);
}

HttpResponse tokenize(const server::ServedModel& model, const json& body) {
  launch::FieldReader reader(body);
  const auto form = body.contains("messages") ? launch::RequestForm::kChat : launch::RequestForm::kCompletions;
  std::vector<launch::PromptSource> prompts = launch::read_prompt_fields(reader, form);
  const bool add_special = reader.boolean("add_special_tokens", launch::Null::kAbsent).value_or(true);
  const bool texts = reader.boolean("return_token_strs", launch::Null::kAbsent).value_or(false);
  if (!reader.error() && prompts.size() > 1) reader.fail("prompt", "must be one text");
  if (reader.error()) return error_of(*reader.error());
  const auto tokens = encode(model, std::move(prompts.front()), add_special);
  if (!tokens) return error_response(400, tokens.error().message, "prompt");
  ordered_json answer = {
      {"count", tokens->size()}, {"max_model_len", model.max_context}, {"tokens", *tokens}, {"token_strs", nullptr}};
  if (texts) {
    answer["token_strs"] = ordered_json::array();
    for (const std::int32_t token : *tokens) answer["token_strs"].push_back(model.tokenizer->token_bytes(token));
  }
  return json_response(answer);
}

HttpResponse detokenize(const server::ServedModel& model, const json& body) {
  const auto list = body.find("tokens");
  const auto is_token = [&](const json& id) {
    return id.is_number_unsigned() && id.get<std::uint64_t>() < static_cast<std::uint64_t>(model.vocab_size);
  };
  if (list == body.end() || !list->is_array() || !std::all_of(list->begin(), list->end(), is_token)) {
    return error_response(400, "tokens: must be a list of token ids of this model", "tokens");
  }
  return json_response({{"prompt", model.tokenizer->decode(list->get<Tokens>())}});
}

using Handler = HttpResponse (*)(const server::ServedModel&, const json&);

void add(Api& api, Router& router, const char* path, Handler handler) {
  router.add({"POST", path, Needs::kKeyAndModel, RunsOn::kWorker, [&api, handler](const ExchangePtr& exchange) {
                const auto body = checkpoint::parse_bounded_json(exchange->request().body, "request");
                HttpResponse response = !body                ? error_response(400, body.error().message)
                                        : !body->is_object() ? error_response(400, "the request must be a JSON object")
                                                             : handler(*api.now()->model, *body);
                exchange->post([exchange, response = std::move(response)] { exchange->respond(response); });
              }});
}

}  // namespace

void add_tokenize_routes(Api& api, Router& router) {
  add(api, router, "/tokenize", tokenize);
  add(api, router, "/detokenize", detokenize);
}

}  // namespace trireme::http
