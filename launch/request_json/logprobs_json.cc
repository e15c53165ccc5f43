#include "launch/request_json/logprobs_json.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/tokenizer/utf8.h"

namespace trireme::launch {
namespace {

using nlohmann::ordered_json;

std::string token_text(const tokenizer::Tokenizer& tokenizer, std::int32_t token) {
  const std::string bytes = tokenizer.token_bytes(token);
  if (!tokenizer::find_invalid_utf8(bytes)) return bytes;
  std::string text = "bytes:";
  for (const char c : bytes) {
    char hex[8];
    std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    text += hex;
  }
  return text;
}

// JSON has no infinities; a token that cannot come is very unlikely.
ordered_json number(float logprob) {
  constexpr float kLeast = -9999.0f;  // as vLLM has it
  return std::isfinite(logprob) ? logprob : kLeast;
}

ordered_json chat_token(const tokenizer::Tokenizer& tokenizer, std::int32_t token, float logprob) {
  ordered_json bytes = ordered_json::array();
  for (const char c : tokenizer.token_bytes(token)) bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", token_text(tokenizer, token)}, {"logprob", number(logprob)}, {"bytes", std::move(bytes)}};
}

ordered_json top_of(const tokenizer::Tokenizer& tokenizer, const TokenWithLogprob& token) {
  if (!token.logprob) return nullptr;
  ordered_json top = ordered_json::object();
  for (const scheduler::TokenLogprob& entry : token.top) {
    const std::string text = token_text(tokenizer, entry.token);
    if (!top.contains(text)) top[text] = number(entry.logprob);  // of two with one text the likelier
  }
  top[token_text(tokenizer, token.token)] = number(*token.logprob);
  return top;
}

}  // namespace

ordered_json completion_logprobs(const tokenizer::Tokenizer& tokenizer, const std::vector<TokenWithLogprob>& tokens,
                                 std::size_t first_offset) {
  ordered_json texts = ordered_json::array(), logprobs = ordered_json::array(), tops = ordered_json::array(),
               offsets = ordered_json::array();
  std::size_t offset = first_offset;
  for (const TokenWithLogprob& token : tokens) {
    texts.push_back(token_text(tokenizer, token.token));
    logprobs.push_back(token.logprob ? number(*token.logprob) : ordered_json(nullptr));
    tops.push_back(top_of(tokenizer, token));
    offsets.push_back(offset);
    offset += tokenizer::num_characters(tokenizer.token_bytes(token.token));
  }
  return {{"tokens", std::move(texts)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

ordered_json chat_logprobs(const tokenizer::Tokenizer& tokenizer, const std::vector<TokenWithLogprob>& tokens) {
  ordered_json content = ordered_json::array();
  for (const TokenWithLogprob& token : tokens) {
    ordered_json entry = chat_token(tokenizer, token.token, token.logprob.value_or(0.0f));
    entry["top_logprobs"] = ordered_json::array();
    for (const scheduler::TokenLogprob& top : token.top) {
      entry["top_logprobs"].push_back(chat_token(tokenizer, top.token, top.logprob));
    }
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

}  // namespace trireme::launch
