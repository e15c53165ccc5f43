// The command line: which command runs, with its own options and with settings that override the configuration.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "launch/command.h"
#include "runtime/config/load.h"

namespace trireme::launch {

struct CommandLine {
  std::string command_name;
  CommandFunction run;  // empty: only print the configuration
  std::vector<config::Override> overrides;
  std::string config_path;  // empty: no file
  bool print_config = false;
  Signals signals = Signals::kEndProcess;
};

// Nothing is to run: help, the version, or an error of one line.
struct Answer {
  int exit_code = 0;
  std::string output;  // for standard output
  std::string error;   // for standard error
};

// Needs neither MPI nor any file. Unknown options and commands name the nearest known one.
std::variant<CommandLine, Answer> parse_command_line(std::span<const Command> commands,
                                                     std::span<const char* const> arguments);

}  // namespace trireme::launch
