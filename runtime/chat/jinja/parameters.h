// Parameters: the arguments of a built-in function by position or name, as its signature says.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/chat/jinja/callable.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

class Parameters {
 public:
  // `names`: all parameters in order, the first being the filter's input or the method's object. The first
  // `num_required` must be given. Throws TemplateError for missing, unknown, doubled or surplus arguments.
  Parameters(const Arguments& arguments, std::string_view function, std::initializer_list<std::string_view> names,
             std::size_t num_required = 1);

  const Value& self() const { return *values_[0]; }
  bool has(std::size_t index) const { return values_[index] != nullptr; }
  bool has_value(std::size_t index) const { return has(index) && !values_[index]->is_none(); }
  const Value& operator[](std::size_t index) const { return *values_[index]; }  // precondition: has(index)

  // The default where the argument is absent; throw TemplateError for another type.
  std::int64_t integer(std::size_t index, std::int64_t otherwise) const;
  std::string_view text(std::size_t index, std::string_view otherwise) const;
  bool flag(std::size_t index, bool otherwise) const;

 private:
  std::string_view function_;
  std::vector<const Value*> values_;
};

}  // namespace trireme::chat::jinja
