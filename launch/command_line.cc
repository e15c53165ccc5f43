#include "launch/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

#include "launch/exit_codes.h"
#include "launch/version.h"
#include "runtime/config/nearest_name.h"

namespace trireme::launch {
namespace {

constexpr const char* kFooter =
    "Settings come from the command line, the environment (TRIREME_SECTION_KEY), --config FILE and defaults, in this\n"
    "order of preference; trireme COMMAND --help lists them. Under mpirun every process is one rank.";

struct Given {
  std::vector<config::Override> overrides;
  std::string config_path;
  bool print_config = false;
};

std::string option_help(const config::Setting& setting) {
  const std::string default_text = setting.default_text();
  return setting.help + " (" + setting.range + (default_text.empty() ? "" : "; default " + default_text) + ")";
}

enum class Listing { kHidden, kShown };  // in --help

// Options that every command has: one per setting, and those that say where settings come from.
void add_common_options(CLI::App& app, const std::vector<config::Setting>& table, Given& given, Listing listing) {
  const auto group = [listing](const std::string& name) { return listing == Listing::kShown ? name : std::string{}; };
  for (const config::Setting& setting : table) {
    const std::string spelling = setting.flag.empty() ? setting.long_flag() : setting.flag;
    const std::string names = setting.flag.empty() ? spelling : spelling + "," + setting.long_flag();
    const auto collect = [&given, key = setting.key(), spelling](const std::string& value) {
      given.overrides.push_back({key, value, spelling});
    };
    CLI::Option* option = app.add_option_function<std::string>(names, collect, option_help(setting))
                              ->type_name(setting.unit.empty() ? "VALUE" : setting.unit)
                              ->group(group("Settings: " + setting.section));
    if (setting.type == config::ValueType::kTextList)
      option->join(',');
    else
      option->take_last();
  }
  app.add_option("--config", given.config_path, "YAML file with settings")
      ->type_name("FILE")
      ->group(group("Configuration"));
  app.add_flag("--print-config", given.print_config, "print every setting with its origin, and end")
      ->group(group("Configuration"));
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Answer usage_error(const std::string& program, const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  return {kUsage, "", program + ": " + line + "; see " + program + " --help\n"};
}

// What no option or command took.
Answer unexpected_argument(const CLI::App& app, const std::string& program, const std::string& argument,
                           std::span<const Command> commands) {
  const std::string name = argument.substr(0, argument.find('='));
  if (name.starts_with("-")) {
    return usage_error(program, "unknown option '" + name + "'" + config::did_you_mean(name, option_names(app)));
  }
  if (commands.empty()) return usage_error(program, "unexpected argument '" + argument + "'");
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return usage_error(program, "unknown command '" + argument + "'" + config::did_you_mean(argument, names));
}

struct Subcommand {
  CLI::App* app = nullptr;
  CommandFunction run;
  Signals signals = Signals::kEndProcess;
};

Answer answer_to(const CLI::App& app, const std::string& program, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) return usage_error(program, error.what());
  std::ostringstream output, unused;
  app.exit(error, output, unused);
  return {kSuccess, output.str(), ""};
}

const Subcommand* chosen(const std::vector<Subcommand>& subcommands) {
  const auto parsed = [](const Subcommand& subcommand) { return subcommand.app->parsed(); };
  const auto found = std::find_if(subcommands.begin(), subcommands.end(), parsed);
  return found == subcommands.end() ? nullptr : &*found;
}

}  // namespace

std::variant<CommandLine, Answer> parse_command_line(std::span<const Command> commands,
                                                     std::span<const char* const> arguments) {
  const std::vector<config::Setting> table = config::config_table();
  Given given;
  CLI::App app("Trireme: large language models over the ranks of an MPI job", "trireme");
  app.set_version_flag("--version", std::string("trireme ") + version());
  app.footer(kFooter);
  app.allow_extras()->require_subcommand(0, 1);
  add_common_options(app, table, given, Listing::kHidden);
  std::vector<Subcommand> subcommands;
  for (const Command& command : commands) {
    CLI::App* subcommand = app.add_subcommand(command.name, command.help);
    subcommand->allow_extras()->footer(kFooter);
    CommandFunction run = command.define(*subcommand);
    add_common_options(*subcommand, table, given, Listing::kShown);
    subcommands.push_back({subcommand, std::move(run), command.signals});
  }
  std::string program = "trireme";
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    if (const Subcommand* subcommand = chosen(subcommands)) program += " " + subcommand->app->get_name();
    return answer_to(app, program, error);
  }
  const Subcommand* subcommand = chosen(subcommands);
  if (!app.remaining().empty()) return unexpected_argument(app, program, app.remaining().front(), commands);
  if (subcommand == nullptr) {
    if (!given.print_config) return usage_error(program, "a command is needed");
    return CommandLine{"", {}, given.overrides, given.config_path, true, Signals::kEndProcess};
  }
  program += " " + subcommand->app->get_name();
  const std::vector<std::string> remaining = subcommand->app->remaining();
  if (!remaining.empty()) return unexpected_argument(*subcommand->app, program, remaining.front(), {});
  return CommandLine{subcommand->app->get_name(), subcommand->run,    given.overrides,
                     given.config_path,           given.print_config, subcommand->signals};
}

}  // namespace trireme::launch
