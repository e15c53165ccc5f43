// ChatTemplate: renders a conversation to a prompt with the model's own Jinja template. Our subset of Jinja covers what
// models' templates use; rendering is bounded in steps and output, so that a hostile template or message cannot hang
// it.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/chat/jinja/render_limits.h"
#include "runtime/checkpoint/checkpoint.h"

namespace trireme::chat {

using jinja::RenderLimits;

class ChatTemplate {
 public:
  // Parses as transformers sets jinja2 up: trim_blocks, lstrip_blocks, loop controls. Errors name line and cause.
  static base::Result<ChatTemplate> parse(std::string_view source);
  // chat_template.jinja, tokenizer_config.json ("chat_template", a string or a list of named ones: "default"), or GGUF.
  // kNotFound where the model has none.
  static base::Result<ChatTemplate> from_checkpoint(const checkpoint::Checkpoint& checkpoint);
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // `context`: an object with messages, add_generation_prompt, bos_token, … Errors: what raise_exception says, use of
  // an undefined value as jinja2 refuses it (kInvalidArgument), a limit (kResourceExhausted). Any thread.
  base::Result<std::string> render(const nlohmann::ordered_json& context, const RenderLimits& limits = {}) const;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::chat
