#include <array>

#include "runtime/chat/jinja/builtins.h"

namespace trireme::chat::jinja {

Function find_filter(std::string_view name) {
  const std::array tables = {text_filters(), conversion_filters(), sequence_filters(), selection_filters()};
  for (const auto& table : tables) {
    if (const Function filter = find_builtin(table, name)) return filter;
  }
  return nullptr;
}

}  // namespace trireme::chat::jinja
