#include "launch/request_json/sampling_fields.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace trireme::launch {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxTokens = INT32_MAX;
constexpr std::int64_t kMaxChoices = 1024;
constexpr std::int64_t kMaxLogprobs = 256;
constexpr std::int64_t kMaxChatLogprobs = 20;  // OpenAI's
constexpr std::size_t kMaxStops = 64;
constexpr std::size_t kMaxStopBytes = 4096;
constexpr std::size_t kMaxBiases = 4096;

template <typename Field, typename Value>
void assign(Field& field, const std::optional<Value>& value) {
  if (value) field = static_cast<Field>(*value);
}

void read_drawing(FieldReader& reader, scheduler::SamplingParams& sampling) {
  assign(sampling.temperature, reader.number("temperature", 0.0, 1e6, Null::kAbsent));
  assign(sampling.top_p, reader.number("top_p", 1e-6, 1.0, Null::kAbsent));
  // -1 says "off" to vLLM's clients.
  if (const auto top_k = reader.integer("top_k", -1, 1 << 30)) {
    sampling.top_k = static_cast<std::int32_t>(std::max<std::int64_t>(*top_k, 0));
  }
  assign(sampling.min_p, reader.number("min_p", 0.0, 1.0));
  assign(sampling.repetition_penalty, reader.number("repetition_penalty", 1e-3, 1e3));
  assign(sampling.presence_penalty, reader.number("presence_penalty", -2.0, 2.0, Null::kAbsent));
  assign(sampling.frequency_penalty, reader.number("frequency_penalty", -2.0, 2.0, Null::kAbsent));
  assign(sampling.seed, reader.unsigned_integer("seed", Null::kAbsent));
}

void read_logit_bias(FieldReader& reader, scheduler::SamplingParams& sampling) {
  const json* biases = reader.value("logit_bias");
  if (biases == nullptr) return;
  if (!biases->is_object() || biases->size() > kMaxBiases) {
    return reader.fail("logit_bias", "must be an object of at most " + std::to_string(kMaxBiases) + " token ids");
  }
  sampling.logit_bias.clear();
  for (const auto& item : biases->items()) {
    scheduler::TokenId id = 0;
    const std::string& key = item.key();
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), id);
    const bool is_id = parsed.ec == std::errc() && parsed.ptr == key.data() + key.size() && id >= 0;
    if (!is_id) return reader.fail("logit_bias", "its keys must be token ids");
    const json& bias = item.value();
    if (!bias.is_number() || !(bias.get<double>() >= -100.0 && bias.get<double>() <= 100.0)) {
      return reader.fail("logit_bias", "its values must be numbers from -100 to 100");
    }
    sampling.logit_bias.emplace_back(id, bias.get<float>());
  }
}

void read_logprobs(FieldReader& reader, RequestForm form, scheduler::SamplingParams& sampling) {
  if (form != RequestForm::kChat) {
    assign(sampling.num_logprobs, reader.integer("logprobs", 0, kMaxLogprobs, Null::kAbsent));
    return;
  }
  const std::optional<bool> wanted = reader.boolean("logprobs", Null::kAbsent);
  const auto top = reader.integer("top_logprobs", 0, kMaxChatLogprobs, Null::kAbsent);
  if (top && !wanted.value_or(false)) return reader.fail("top_logprobs", "needs logprobs: true");
  if (wanted) sampling.num_logprobs = *wanted ? static_cast<std::int32_t>(top.value_or(0)) : -1;
}

void read_stop_texts(FieldReader& reader, RequestSpec& spec) {
  const json* stop = reader.value("stop");
  if (stop == nullptr) return;
  const auto is_text = [](const json& text) {
    return text.is_string() && !text.get_ref<const std::string&>().empty() &&
           text.get_ref<const std::string&>().size() <= kMaxStopBytes;
  };
  const bool one = is_text(*stop);
  if (!one && !(stop->is_array() && stop->size() <= kMaxStops && std::all_of(stop->begin(), stop->end(), is_text))) {
    return reader.fail("stop", "must be a text, or a list of at most " + std::to_string(kMaxStops) +
                                   " texts, each of 1 to " + std::to_string(kMaxStopBytes) + " bytes");
  }
  spec.stop = one ? std::vector{stop->get<std::string>()} : stop->get<std::vector<std::string>>();
}

void read_stop_ids(FieldReader& reader, RequestSpec& spec) {
  const json* stop = reader.value("stop_token_ids");
  if (stop == nullptr) return;
  const auto is_id = [](const json& id) { return id.is_number_unsigned() && id.get<std::uint64_t>() <= INT32_MAX; };
  if (!stop->is_array() || stop->size() > kMaxStops || !std::all_of(stop->begin(), stop->end(), is_id)) {
    return reader.fail("stop_token_ids", "must be a list of at most " + std::to_string(kMaxStops) + " token ids");
  }
  spec.stop_token_ids = stop->get<std::vector<std::int32_t>>();
}

void read_lengths(FieldReader& reader, RequestForm form, RequestSpec& spec) {
  const auto max_tokens = reader.integer("max_tokens", 0, kMaxTokens);
  if (max_tokens) spec.max_tokens = static_cast<std::int32_t>(*max_tokens);
  if (form != RequestForm::kCompletions) {  // the newer name is preferred
    const auto newer = reader.integer("max_completion_tokens", 0, kMaxTokens);
    if (newer) spec.max_tokens = static_cast<std::int32_t>(*newer);
  }
  assign(spec.min_tokens, reader.integer("min_tokens", 0, kMaxTokens));
  if (spec.max_tokens && spec.min_tokens > *spec.max_tokens) reader.fail("min_tokens", "is more than max_tokens");
  assign(spec.ignore_eos, reader.boolean("ignore_eos", Null::kAbsent));
}

}  // namespace

void read_sampling_fields(FieldReader& reader, RequestForm form, RequestSpec& spec) {
  read_drawing(reader, spec.sampling);
  read_logit_bias(reader, spec.sampling);
  read_logprobs(reader, form, spec.sampling);
  read_stop_texts(reader, spec);
  read_stop_ids(reader, spec);
  read_lengths(reader, form, spec);
  assign(spec.num_choices, reader.integer("n", 1, kMaxChoices));
  assign(spec.priority, reader.integer("priority", INT32_MIN, INT32_MAX, Null::kAbsent));
  if (form == RequestForm::kPlain) assign(spec.prompt_logprobs, reader.boolean("prompt_logprobs", Null::kAbsent));
}

}  // namespace trireme::launch
