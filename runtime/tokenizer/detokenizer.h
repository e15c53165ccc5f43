// Detokenizer: tokens of one growing output → text, piece by piece. Never emits half a character: bytes of an incomplete
// UTF-8 sequence are held back until it completes or turns out invalid (then U+FFFD, as a whole decode would give).
// Also holds back what could be the start of a stop string.
#pragma once

#include <string>
#include <vector>

#include "runtime/tokenizer/tokenizer.h"

namespace trireme::tokenizer {

class Detokenizer {
 public:
  // `tokenizer` outlives this. `stop`: non-empty stop strings; the earliest match ends the text, just before it.
  Detokenizer(const Tokenizer& tokenizer, std::vector<std::string> stop, bool skip_special = true);

  // Text that is now certain. After a stop string has matched, nothing more comes.
  std::string push(TokenId token);
  // What was held back, at the end of the output.
  std::string finish();
  bool stopped() const { return stopped_; }  // a stop string has matched

 private:
  const Tokenizer& tokenizer_;
  std::vector<std::string> stop_;
  bool skip_special_;
  bool at_start_ = true;
  bool stopped_ = false;
  std::string pending_bytes_;  // an incomplete character
  std::string pending_text_;   // could be the start of a stop string
};

}  // namespace trireme::tokenizer
