// RenderContext: the budget of one rendering, and the owner of the values that it makes. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/chat/jinja/callable.h"
#include "runtime/chat/jinja/render_limits.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

class RenderContext {
 public:
  explicit RenderContext(const RenderLimits& limits) : limits_(limits) {}
  RenderContext(const RenderContext&) = delete;
  RenderContext& operator=(const RenderContext&) = delete;

  const RenderLimits& limits() const { return limits_; }

  // These throw TemplateError where a limit is passed.
  void charge(std::size_t num_steps = 1);
  void charge_bytes(std::size_t num_bytes);           // of text that is made or looked through
  void check_text_size(std::size_t num_bytes) const;  // before text of that size is made

  Value text(std::string text);  // charged
  List* list(List::Kind kind, std::vector<Value> items = {});
  List* list(std::vector<Value> items = {}) { return list(List::Kind::kList, std::move(items)); }
  List* tuple(std::vector<Value> items) { return list(List::Kind::kTuple, std::move(items)); }
  Dict* dict(Dict::Kind kind = Dict::Kind::kDict);
  Loop* loop();
  const Callable* callable(std::unique_ptr<Callable> callable);

 private:
  friend class DepthGuard;
  RenderLimits limits_;
  std::int64_t steps_ = 0;
  std::int32_t depth_ = 0;
  std::vector<std::unique_ptr<List>> lists_;
  std::vector<std::unique_ptr<Dict>> dicts_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::unique_ptr<Callable>> callables_;
};

// Lives in each recursive function, so that nesting ends before the stack does.
class DepthGuard {
 public:
  explicit DepthGuard(RenderContext& context);
  ~DepthGuard() { --context_.depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  RenderContext& context_;
};

// Text that grows within the limits.
class TextBuilder {
 public:
  explicit TextBuilder(RenderContext& context) : context_(context) {}
  void append(std::string_view part);
  void fill(std::int64_t count, std::string_view part);  // nothing for a negative count
  std::size_t size() const { return text_.size(); }
  std::string take() { return std::move(text_); }
  Value value() { return context_.text(std::move(text_)); }

 private:
  RenderContext& context_;
  std::string text_;
};

}  // namespace trireme::chat::jinja
