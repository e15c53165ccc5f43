#include "runtime/tokenizer/decoder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/metaspace.h"
#include "runtime/tokenizer/text_replace.h"

namespace trireme::tokenizer {
namespace {

// What English text, cut into words with spaces between, has too much of.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kCleanup = {{{" .", "."},
                                                                                     {" ?", "?"},
                                                                                     {" !", "!"},
                                                                                     {" ,", ","},
                                                                                     {" ' ", "'"},
                                                                                     {" n't", "n't"},
                                                                                     {" 'm", "'m"},
                                                                                     {" do not", " don't"},
                                                                                     {" 's", "'s"},
                                                                                     {" 've", "'ve"},
                                                                                     {" 're", "'re"}}};

constexpr std::size_t kMaxTextBytes = 1 << 16;  // of one token

std::string apply_step(const ByteLevelDecode&, const std::string& token, bool) {
  return bytes_from_alphabet(token).value_or(token);
}

std::string apply_step(const WordPieceDecode& step, std::string token, bool at_start) {
  if (!at_start) {
    if (!step.prefix.empty() && token.starts_with(step.prefix)) {
      token.erase(0, step.prefix.size());
    } else {
      token.insert(0, " ");
    }
  }
  if (!step.cleanup) return token;
  for (const auto& [from, to] : kCleanup) token = replace_all(token, from, to);
  return token;
}

std::string apply_step(const MetaspaceDecode& step, const std::string& token, bool at_start) {
  return replace_all(token, step.replacement, at_start && step.drop_at_start ? "" : " ");
}

std::string apply_step(const WordEndDecode& step, std::string token, bool) {
  if (token.ends_with(step.suffix)) token.erase(token.size() - step.suffix.size());
  return replace_all(token, step.suffix, " ");
}

std::string apply_step(const ReplaceDecode& step, const std::string& token, bool) {
  auto replaced = replace_matches(step.pattern, token, step.replacement, kMaxTextBytes);
  if (!replaced) return token;
  return std::move(*replaced);
}

std::string apply_step(const StripDecode& step, std::string token, bool) {
  for (std::size_t i = 0; i < step.at_start && token.starts_with(step.content); ++i)
    token.erase(0, step.content.size());
  for (std::size_t i = 0; i < step.at_end && token.ends_with(step.content); ++i) {
    token.erase(token.size() - step.content.size());
  }
  return token;
}

}  // namespace

std::string TokenDecoder::apply(std::string_view token, bool at_start) const {
  std::string text(token);
  for (const DecoderStep& step : of_token_) {
    text = std::visit([&](const auto& concrete) { return apply_step(concrete, std::move(text), at_start); }, step);
  }
  return apply_to_byte(std::move(text), at_start);
}

std::string TokenDecoder::apply_to_byte(std::string text, bool at_start) const {
  if (!at_start) return text;
  for (const StripDecode& step : of_text_) text = apply_step(step, std::move(text), at_start);
  return text;
}

bool TokenDecoder::ends_word(std::string_view token) const {
  if (spaces_between_) return true;
  return std::any_of(of_token_.begin(), of_token_.end(), [&](const DecoderStep& step) {
    const auto* word_end = std::get_if<WordEndDecode>(&step);
    return word_end != nullptr && token.ends_with(word_end->suffix);
  });
}

TokenDecoder metaspace_decoder(bool strip_leading_space) {
  std::vector<StripDecode> of_text;
  if (strip_leading_space) of_text.push_back({" ", 1, 0});
  std::vector<DecoderStep> of_token;
  of_token.emplace_back(MetaspaceDecode{std::string(kMetaspace), false});
  return TokenDecoder(std::move(of_token), std::move(of_text));
}

}  // namespace trireme::tokenizer
