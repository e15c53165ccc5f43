#include "runtime/tokenizer/pipeline_tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;  // positions within a word are 32-bit numbers

}  // namespace

PipelineTokenizer::PipelineTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  TRIREME_CHECK(parts_.vocabulary != nullptr && parts_.model != nullptr);
}

base::Result<std::vector<TokenId>> PipelineTokenizer::encode(std::string_view text, EncodeOptions options) const {
  if (text.size() > kMaxTextBytes) return base::invalid_argument("the text is longer than 1 GiB");
  if (const auto offset = find_invalid_utf8(text)) {
    return base::invalid_argument("the text is not valid UTF-8 at byte " + std::to_string(*offset));
  }
  std::vector<TokenId> ids;
  std::vector<TextSegment> segments;
  parts_.added_tokens.split(text, {options.special, options.literal_offsets}, segments);
  for (const TextSegment& segment : segments) {
    if (segment.token) {
      ids.push_back(*segment.token);
      continue;
    }
    const base::Status status = encode_text(segment.text, options.special, &segment == segments.data(), ids);
    if (!status) return status.error();
  }
  if (options.add_special) add_special(ids);
  return ids;
}

base::Status PipelineTokenizer::encode_text(std::string_view text, SpecialTokens mode, bool at_text_start,
                                            std::vector<TokenId>& ids) const {
  std::string normalized;
  if (!parts_.normalizer.empty()) {
    base::Result<std::string> result = parts_.normalizer.apply(text);
    if (!result) return result.error();
    normalized = std::move(*result);
    text = normalized;
  }
  std::vector<TextSegment> segments;
  parts_.normalized_added_tokens.split(text, {mode, {}}, segments);
  for (const TextSegment& segment : segments) {
    if (segment.token) {
      ids.push_back(*segment.token);
      continue;
    }
    const bool first = at_text_start && &segment == segments.data();
    const base::Result<Words> words = parts_.pre_tokenizer.apply(segment.text, first);
    if (!words) return words.error();
    const base::Status status = parts_.model->encode(words->words, ids);
    if (!status) return status;
  }
  return base::ok_status();
}

void PipelineTokenizer::add_special(std::vector<TokenId>& ids) const {
  const std::vector<TokenId>& prefix = parts_.prefix;
  const bool has_prefix = ids.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), ids.begin());
  if (!has_prefix) ids.insert(ids.begin(), prefix.begin(), prefix.end());
  ids.insert(ids.end(), parts_.suffix.begin(), parts_.suffix.end());
}

std::string PipelineTokenizer::decode(std::span<const TokenId> tokens, bool skip_special) const {
  std::string text;
  std::optional<TokenId> previous;
  for (const TokenId token : tokens) {
    if (skip_special && is_special(token)) continue;
    if (previous && ends_word(*previous)) text += ' ';
    text += token_bytes(token, !previous);
    previous = token;
  }
  return text;
}

std::string PipelineTokenizer::token_bytes(TokenId token, bool at_start) const {
  const std::string_view bytes = parts_.vocabulary->bytes(token);
  if (parts_.vocabulary->kind(token) == TokenKind::kByte)
    return parts_.decoder.apply_to_byte(std::string(bytes), at_start);
  return parts_.decoder.apply(bytes, at_start);
}

std::optional<TokenId> PipelineTokenizer::token_id(std::string_view content) const {
  if (const auto id = parts_.added_tokens.find(content)) return id;
  if (const auto id = parts_.normalized_added_tokens.find(content)) return id;
  return parts_.vocabulary->find(content);
}

}  // namespace trireme::tokenizer
