#include "launch/generation_output.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace trireme::launch {
namespace {

using engine::Generation;
using nlohmann::ordered_json;

ordered_json top_json(const std::vector<std::vector<scheduler::TokenLogprob>>& top) {
  ordered_json positions = ordered_json::array();
  for (const auto& entries : top) {
    ordered_json position = ordered_json::array();
    for (const scheduler::TokenLogprob& entry : entries) {
      position.push_back({{"id", entry.token}, {"logprob", entry.logprob}});
    }
    positions.push_back(std::move(position));
  }
  return positions;
}

// One value per choice; alone it stands for itself.
template <typename Field>
ordered_json per_choice(const std::vector<Generation>& choices, const Field& field) {
  if (choices.size() == 1) return field(choices.front());
  ordered_json values = ordered_json::array();
  for (const Generation& choice : choices) values.push_back(field(choice));
  return values;
}

void add_logprobs(const std::vector<Generation>& choices, ordered_json& object) {
  object["token_logprobs"] = per_choice(choices, [](const Generation& choice) {
    ordered_json values = ordered_json::array();
    for (const auto& token : choice.tokens) values.push_back(token.logprob);
    return values;
  });
  object["top_logprobs"] = per_choice(choices, [](const Generation& choice) {
    std::vector<std::vector<scheduler::TokenLogprob>> top;
    for (const auto& token : choice.tokens) top.push_back(token.top);
    return top_json(top);
  });
}

void add_prompt_logprobs(const scheduler::Request& request, const Generation& choice, ordered_json& object) {
  ordered_json values = ordered_json::array({nullptr});
  for (const float logprob : choice.prompt_logprobs) values.push_back(logprob);
  object["prompt_logprobs"] = std::move(values);
  if (request.sampling.num_logprobs > 0) object["prompt_top_logprobs"] = top_json(choice.prompt_top);
}

std::size_t count_tokens(const std::vector<Generation>& choices) {
  std::size_t tokens = 0;
  for (const Generation& choice : choices) tokens += choice.tokens.size();
  return tokens;
}

// Tokens after each choice's first, over the time since the first token.
double decode_rate(const std::vector<Generation>& choices, const GenerationTiming& timing) {
  const std::size_t tokens = count_tokens(choices);
  if (tokens <= choices.size() || timing.decode_seconds() <= 0.0) return 0.0;
  return static_cast<double>(tokens - choices.size()) / timing.decode_seconds();
}

}  // namespace

nlohmann::ordered_json generation_fields(const scheduler::Request& request, const std::vector<Generation>& choices) {
  ordered_json object;
  object["text"] = per_choice(choices, [](const Generation& choice) { return ordered_json(choice.text); });
  object["token_ids"] = per_choice(choices, [](const Generation& choice) { return ordered_json(choice.token_ids()); });
  object["prompt_token_ids"] = request.prompt;
  object["finish_reason"] = per_choice(
      choices, [](const Generation& choice) { return ordered_json(engine::to_string(choice.finish_reason)); });
  object["token_logprobs"] = object["top_logprobs"] = object["prompt_logprobs"] = nullptr;
  if (request.sampling.num_logprobs >= 0) add_logprobs(choices, object);
  if (request.prompt_logprobs) add_prompt_logprobs(request, choices.front(), object);
  object["usage"] = usage_json(request, choices);
  return object;
}

nlohmann::ordered_json usage_json(const scheduler::Request& request, const std::vector<Generation>& choices) {
  const std::size_t completion = count_tokens(choices);
  return {{"prompt_tokens", request.prompt.size()},
          {"completion_tokens", completion},
          {"total_tokens", request.prompt.size() + completion}};
}

std::string to_line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string generation_json(const scheduler::Request& request, const std::vector<Generation>& choices,
                            const GenerationTiming& timing) {
  ordered_json object = generation_fields(request, choices);
  object["timing"] = {{"time_to_first_token_s", timing.seconds_to_first_token()},
                      {"total_s", timing.total_seconds()},
                      {"decode_tokens_per_s", decode_rate(choices, timing)}};
  return to_line(object);
}

std::string generation_summary(const scheduler::Request& request, const std::vector<Generation>& choices,
                               const GenerationTiming& timing) {
  char text[160];
  std::snprintf(text, sizeof text,
                "%zu prompt tokens, first token after %.2f s; %zu tokens in %.2f s (%.1f tokens/s), ",
                request.prompt.size(), timing.seconds_to_first_token(), count_tokens(choices), timing.total_seconds(),
                decode_rate(choices, timing));
  return text + std::string(engine::to_string(choices.front().finish_reason));
}

}  // namespace trireme::launch
