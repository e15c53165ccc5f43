// Detokenizer: tokens of one growing output → text, piece by piece. Never emits half a character: bytes of an
// incomplete UTF-8 sequence are held back until it completes or turns out invalid (then U+FFFD, as a whole decode would
// give). Also holds back what could be the start of a stop string.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tokenizer/stop_matcher.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::tokenizer {

class Detokenizer {
 public:
  // `tokenizer` outlives this. `stop`: non-empty stop strings in valid UTF-8; the match that ends first (of several,
  // the one that begins first) ends the text, just before it. How the text is cut into tokens makes no difference.
  Detokenizer(const Tokenizer& tokenizer, const std::vector<std::string>& stop, bool skip_special = true);

  // Text that is now certain. After a stop string has matched, nothing more comes.
  std::string push(TokenId token);
  // What was held back, at the end of the output.
  std::string finish();
  bool stopped() const { return stopped_; }  // a stop string has matched

 private:
  std::string release(std::string_view text);

  const Tokenizer& tokenizer_;
  StopMatcher stop_matcher_;
  bool skip_special_;
  std::optional<TokenId> previous_;  // nothing at the start
  bool stopped_ = false;
  std::string pending_bytes_;  // an incomplete character
  std::string pending_text_;   // could be the start of a stop string
};

}  // namespace trireme::tokenizer
