#include "launch/config_agreement.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "runtime/config/print.h"
#include "runtime/config/settings_file.h"

namespace trireme::launch {
namespace {

// Text with a flag, as it travels between ranks.
struct Report {
  bool ok = true;
  std::string text;  // an error if not ok
};

std::vector<std::byte> encode(const Report& report) {
  std::vector<std::byte> bytes(report.text.size() + 1);
  bytes[0] = static_cast<std::byte>(report.ok ? 1 : 0);
  std::memcpy(bytes.data() + 1, report.text.data(), report.text.size());
  return bytes;
}

Report decode(const std::vector<std::byte>& bytes) {
  TRIREME_CHECK(!bytes.empty()) << "ranks of different versions";
  return {bytes[0] == std::byte{1}, std::string(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1)};
}

// At most one byte more than a configuration may have, so that the reader can refuse a larger file.
Report read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {false, path + ": is a folder, not a configuration file"};
  std::ifstream file(path, std::ios::binary);
  if (!file) return {false, path + ": cannot be read: " + std::strerror(errno)};
  std::string text(config::kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return {false, path + ": reading failed"};
  return {true, std::move(text)};
}

config::Config parse_yaml(const std::string& yaml) {
  const auto loaded = config::load({config::ConfigFile{yaml, "a rank's configuration"}, {}, {}});
  TRIREME_CHECK(loaded.ok()) << "ranks of different versions: " << loaded.error().message;
  return loaded->config;
}

base::Status compare(const std::vector<Report>& reports) {
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    if (reports[rank].ok) continue;
    // Where rank 0 fails, it most likely shares the mistake with all others.
    const std::string who = rank == 0 ? "" : "rank " + std::to_string(rank) + ": ";
    return base::invalid_argument(who + reports[rank].text);
  }
  for (std::size_t rank = 1; rank < reports.size(); ++rank) {
    if (reports[rank].text == reports[0].text) continue;
    const auto difference = config::first_difference(parse_yaml(reports[0].text), parse_yaml(reports[rank].text));
    TRIREME_CHECK(difference.has_value()) << "ranks of different versions";
    return base::invalid_argument("rank " + std::to_string(rank) + " has " + difference->key + ": " +
                                  difference->right + ", rank 0 has " + difference->left +
                                  "; give all ranks the same TRIREME_ variables and options");
  }
  return base::ok_status();
}

// All ranks run one command, with or without a configuration file: what follows is collective.
base::Status same_command(parallel::Communicator& world, const CommandLine& command_line) {
  const std::string mine =
      command_line.command_name + (command_line.config_path.empty() ? "" : " --config " + command_line.config_path);
  std::vector<std::string> all;
  for (const std::vector<std::byte>& bytes : world.all_gather(std::as_bytes(std::span(mine)))) {
    all.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    return base::invalid_argument("rank " + std::to_string(rank) + " runs '" + all[rank] + "', rank 0 '" + all[0] +
                                  "': start all ranks with the same command and file");
  }
  return base::ok_status();
}

}  // namespace

base::Result<config::ResolvedConfig> agree_on_config(parallel::Communicator& world, const CommandLine& command_line,
                                                     const std::map<std::string, std::string>& environment) {
  config::ConfigSources sources{{}, environment, command_line.overrides};
  const bool has_file = !command_line.config_path.empty();
  if (const base::Status same = same_command(world, command_line); !same) return same.error();
  if (has_file) {
    const Report mine = world.rank() == 0 ? read_file(command_line.config_path) : Report{};
    Report file = decode(world.broadcast(encode(mine), 0));
    if (!file.ok) return base::not_found(std::move(file.text));
    sources.file = config::ConfigFile{std::move(file.text), command_line.config_path};
  }
  base::Result<config::ResolvedConfig> resolved = config::load(sources);
  const Report mine =
      resolved ? Report{true, config::to_yaml(resolved->config)} : Report{false, resolved.error().message};
  std::vector<Report> reports;
  for (const std::vector<std::byte>& bytes : world.all_gather(encode(mine))) reports.push_back(decode(bytes));
  if (const base::Status status = compare(reports); !status) return status.error();
  return resolved;
}

}  // namespace trireme::launch
