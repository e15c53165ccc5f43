#include <algorithm>
#include <memory>

#include "runtime/chat/jinja/evaluator.h"
#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {
namespace {

class MacroCallable : public Callable {
 public:
  MacroCallable(Evaluator& evaluator, const MacroDefinition& macro, ScopePtr closure)
      : evaluator_(evaluator), macro_(macro), closure_(std::move(closure)) {}
  Value call(RenderContext&, const Arguments& arguments) const override {
    return evaluator_.call_macro(macro_, closure_, arguments);
  }
  std::string type_name() const override { return "Macro"; }

 private:
  Evaluator& evaluator_;
  const MacroDefinition& macro_;
  ScopePtr closure_;
};

// The block of a call statement, which comes as a named argument; undefined where the macro was called plainly.
void bind_caller(std::vector<std::pair<std::string, Value>>& named, Scope& scope) {
  const auto found =
      std::find_if(named.begin(), named.end(), [](const auto& entry) { return entry.first == "caller"; });
  if (found == named.end()) return scope.set("caller", undefined_because("No caller defined"));
  scope.set("caller", found->second);
  named.erase(found);
}

// What no parameter takes: kwargs and varargs where the macro's body reads them, else a fault.
void bind_surplus(RenderContext& context, const MacroDefinition& macro, const Arguments& arguments,
                  std::vector<std::pair<std::string, Value>> named, Scope& scope) {
  if (macro.uses_caller) bind_caller(named, scope);
  if (macro.uses_kwargs) {
    Dict* kwargs = context.dict();
    for (auto& [name, value] : named) kwargs->set(context.text(name), value);
    scope.set("kwargs", kwargs);
  } else if (!named.empty()) {
    fail("macro '" + macro.name + "' takes no keyword argument '" + named.front().first + "'");
  }
  std::vector<Value> surplus;
  for (std::size_t i = macro.parameters.size(); i < arguments.positional.size(); ++i) {
    surplus.push_back(arguments.positional[i]);
  }
  if (macro.uses_varargs) {
    scope.set("varargs", context.tuple(std::move(surplus)));
  } else if (!surplus.empty()) {
    fail("macro '" + macro.name + "' takes not more than " + std::to_string(macro.parameters.size()) + " argument(s)");
  }
}

}  // namespace

const Callable* Evaluator::macro_value(const MacroDefinition& macro, const ScopePtr& scope) {
  return context_.callable(std::make_unique<MacroCallable>(*this, macro, scope));
}

Value Evaluator::call_macro(const MacroDefinition& macro, const ScopePtr& closure, const Arguments& arguments) {
  const DepthGuard guard(context_);
  const auto scope = std::make_shared<Scope>(closure);
  std::vector<std::pair<std::string, Value>> named = arguments.named;
  const std::size_t first_default = macro.parameters.size() - macro.defaults.size();
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const std::string& name = macro.parameters[i];
    const auto found = std::find_if(named.begin(), named.end(), [&](const auto& entry) { return entry.first == name; });
    if (i < arguments.positional.size()) {
      scope->set(name, arguments.positional[i]);
    } else if (found != named.end()) {
      scope->set(name, found->second);
      named.erase(found);
    } else if (i >= first_default) {
      scope->set(name, evaluate(*macro.defaults[i - first_default], *scope));
    } else {
      scope->set(name, undefined_because("parameter '" + name + "' was not provided"));
    }
  }
  bind_surplus(context_, macro, arguments, std::move(named), *scope);
  std::string out;
  execute(macro.body, scope, out);
  return context_.text(std::move(out));
}

}  // namespace trireme::chat::jinja
