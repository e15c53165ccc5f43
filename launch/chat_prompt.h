// A conversation → the tokens of its prompt, by the model's own chat template. Special tokens that the template writes
// are recognised; what looks like one in the content of a message stays text.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/chat/chat_template.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::launch {

struct ChatMessage {
  std::string role, content;
};

// The object in `text`, which may be empty. Error: it is not a JSON object; the message names `option`.
base::Result<nlohmann::ordered_json> parse_template_variables(const std::string& text, const std::string& option);

class ChatPrompt {
 public:
  // Error: the model has no template, or one that does not parse. `tokenizer` outlives this.
  static base::Result<ChatPrompt> from_checkpoint(const checkpoint::Checkpoint& checkpoint,
                                                  const tokenizer::Tokenizer& tokenizer);

  base::Result<std::vector<std::int32_t>> tokens(const std::vector<ChatMessage>& messages) const;
  // `variables`: an object of what else the template may ask for, such as tools or enable_thinking; what looks like a
  // special token in its texts stays text too. Error: it is no object, or replaces messages or a token.
  base::Result<std::vector<std::int32_t>> tokens(const std::vector<ChatMessage>& messages,
                                                 const nlohmann::ordered_json& variables) const;

 private:
  ChatPrompt(chat::ChatTemplate chat_template, const tokenizer::Tokenizer& tokenizer)
      : template_(std::move(chat_template)), tokenizer_(&tokenizer) {}

  chat::ChatTemplate template_;
  const tokenizer::Tokenizer* tokenizer_;
};

}  // namespace trireme::launch
