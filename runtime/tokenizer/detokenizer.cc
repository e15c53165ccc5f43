#include "runtime/tokenizer/detokenizer.h"

#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

// Moves the whole characters at the beginning of `bytes` to the result, with U+FFFD for what is invalid.
std::string take_characters(std::string& bytes) {
  std::string text;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const Utf8Character character = first_character(std::string_view(bytes).substr(done));
    if (character.status == Utf8Status::kIncomplete) break;
    if (character.status == Utf8Status::kValid) {
      text.append(bytes, done, character.bytes);
    } else {
      text += kReplacementCharacter;
    }
    done += character.bytes;
  }
  bytes.erase(0, done);
  return text;
}

}  // namespace

Detokenizer::Detokenizer(const Tokenizer& tokenizer, const std::vector<std::string>& stop, bool skip_special)
    : tokenizer_(tokenizer), stop_matcher_(stop), skip_special_(skip_special) {}

std::string Detokenizer::push(TokenId token) {
  if (stopped_ || (skip_special_ && tokenizer_.is_special(token))) return {};
  if (previous_ && tokenizer_.ends_word(*previous_)) pending_bytes_ += ' ';
  pending_bytes_ += tokenizer_.token_bytes(token, !previous_);
  previous_ = token;
  return release(take_characters(pending_bytes_));
}

std::string Detokenizer::finish() {
  if (stopped_) return {};
  std::string text;
  if (!pending_bytes_.empty()) text = release(kReplacementCharacter);
  pending_bytes_.clear();
  if (!stopped_) text += pending_text_;
  pending_text_.clear();
  return text;
}

// `text` is new. Returns what no stop string can take any more.
std::string Detokenizer::release(std::string_view text) {
  const auto found = stop_matcher_.push(text);
  pending_text_ += found ? text.substr(0, found->consumed) : text;
  const std::size_t held = found ? found->length : stop_matcher_.num_pending_bytes();
  std::string certain = pending_text_.substr(0, pending_text_.size() - held);
  pending_text_.erase(0, certain.size());
  if (found) {
    stopped_ = true;
    pending_text_.clear();
    pending_bytes_.clear();
  }
  return certain;
}

}  // namespace trireme::tokenizer
