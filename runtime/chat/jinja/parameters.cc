#include "runtime/chat/jinja/parameters.h"

#include <algorithm>

#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {

Parameters::Parameters(const Arguments& arguments, std::string_view function,
                       std::initializer_list<std::string_view> names, std::size_t num_required)
    : function_(function), values_(names.size(), nullptr) {
  const std::string called = std::string(function) + "()";
  if (arguments.positional.size() > names.size()) {
    fail(called + " takes " + std::to_string(names.size() - 1) + " arguments, not " +
         std::to_string(arguments.positional.size() - 1));
  }
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) fail(called + " got an unexpected keyword argument '" + name + "'");
    const Value*& slot = values_[static_cast<std::size_t>(found - names.begin())];
    if (slot != nullptr) fail(called + " got multiple values for argument '" + name + "'");
    slot = &value;
  }
  for (std::size_t i = 0; i < num_required; ++i) {
    if (values_[i] == nullptr) fail(called + " needs the argument '" + std::string(names.begin()[i]) + "'");
  }
}

std::int64_t Parameters::integer(std::size_t index, std::int64_t otherwise) const {
  if (!has(index)) return otherwise;
  const Value& value = *values_[index];
  Number number;
  if (const Undefined* undefined = value.undefined()) fail(*undefined->message);
  if (!as_number(value, number) || number.is_float) {
    fail("'" + type_name(value) + "' object cannot be interpreted as an integer");
  }
  return number.integer;
}

std::string_view Parameters::text(std::size_t index, std::string_view otherwise) const {
  if (!has(index)) return otherwise;
  const Value& value = *values_[index];
  if (const Undefined* undefined = value.undefined()) fail(*undefined->message);
  if (!value.is_text()) fail(std::string(function_) + "() needs a str, not '" + type_name(value) + "'");
  return *value.text();
}

bool Parameters::flag(std::size_t index, bool otherwise) const {
  return has(index) ? truthy(*values_[index]) : otherwise;
}

}  // namespace trireme::chat::jinja
