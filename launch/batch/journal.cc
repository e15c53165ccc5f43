#include "launch/batch/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "launch/generation_output.h"
#include "launch/text_input.h"
#include "parallel/crc32c.h"
#include "runtime/checkpoint/bounded_json.h"

namespace trireme::launch {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kVersion = 1;

std::string checksum(std::string_view text) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%08x", parallel::crc32c(std::as_bytes(std::span(text))));
  return digits;
}

// Of one length always, so that it can be rewritten in place: the second line of the file.
std::string record_of(const DurableRows& durable) {
  char text[128];
  std::snprintf(text, sizeof text, "durable bytes %020llu rows %020llu line %020llu",
                static_cast<unsigned long long>(durable.num_bytes), static_cast<unsigned long long>(durable.num_rows),
                static_cast<unsigned long long>(durable.last_line));
  return text + (" " + checksum(text)) + "\n";
}

// A record that was torn says nothing: nothing is known to be durable then.
DurableRows parse_record(const std::string& record) {
  unsigned long long bytes = 0, rows = 0, line = 0;
  if (std::sscanf(record.c_str(), "durable bytes %llu rows %llu line %llu", &bytes, &rows, &line) != 3) return {};
  const DurableRows durable{bytes, rows, line};
  return record == record_of(durable) ? durable : DurableRows{};
}

std::string header_of(const JournalContents& contents) {
  ordered_json settings = ordered_json::object();
  for (const auto& [name, value] : contents.job.settings) settings[name] = value;
  const ordered_json header = {{"trireme_batch_journal", kVersion},
                               {"created", contents.created},
                               {"input_bytes", contents.job.input_bytes},
                               {"input_fingerprint", contents.job.input_fingerprint},
                               {"model_fingerprint", contents.job.model_fingerprint},
                               {"settings", std::move(settings)}};
  return to_line(header) + "\n";
}

std::optional<JournalContents> parse_header(const std::string& text) {
  const auto parsed = checkpoint::parse_bounded_json(text, "journal");
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto count = [&](const char* name) { return parsed->contains(name) && (*parsed)[name].is_number_unsigned(); };
  const bool whole = count("trireme_batch_journal") && count("created") && count("input_bytes") &&
                     count("input_fingerprint") && count("model_fingerprint") && parsed->contains("settings") &&
                     (*parsed)["settings"].is_object();
  if (!whole || (*parsed)["trireme_batch_journal"] != kVersion) return std::nullopt;
  JournalContents contents;
  contents.created = (*parsed)["created"].get<std::int64_t>();
  contents.job.input_bytes = (*parsed)["input_bytes"].get<std::uint64_t>();
  contents.job.input_fingerprint = (*parsed)["input_fingerprint"].get<std::uint64_t>();
  contents.job.model_fingerprint = (*parsed)["model_fingerprint"].get<std::uint64_t>();
  for (const auto& item : (*parsed)["settings"].items()) {
    if (!item.value().is_string()) return std::nullopt;
    contents.job.settings.emplace_back(item.key(), item.value().get<std::string>());
  }
  return contents;
}

base::Error not_ours(const std::string& path) {
  return base::invalid_argument(path + ": is not the journal of a batch job, or damaged; --overwrite begins anew");
}

}  // namespace

std::string difference(const JobDescription& before, const JobDescription& now) {
  if (before.input_bytes != now.input_bytes || before.input_fingerprint != now.input_fingerprint)
    return "another input";
  if (before.model_fingerprint != now.model_fingerprint) return "another model";
  const auto value_of = [](const JobDescription& job, const std::string& name) -> std::string {
    for (const auto& [key, value] : job.settings) {
      if (key == name) return value;
    }
    return "unknown";
  };
  for (const auto* job : {&now, &before}) {
    for (const auto& [name, unused] : job->settings) {
      const std::string was = value_of(before, name), is = value_of(now, name);
      if (was != is) return "other settings: " + name + " was " + was + " and is now " + is;
    }
  }
  return "";
}

base::Result<std::optional<JournalContents>> Journal::read(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::optional<JournalContents>();
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  const auto file = FileHandle::open(path, O_RDONLY);
  if (!file) return file.error();
  const auto size = file->size();
  if (!size) return size.error();
  if (*size > kMaxBytes) return not_ours(path);
  const auto text = read_text(path);
  if (!text) return text.error();
  const std::size_t newline = text->find('\n');
  auto contents = parse_header(text->substr(0, newline));
  if (newline == std::string::npos || !contents) return not_ours(path);
  contents->durable = parse_record(text->substr(newline + 1));
  return contents;
}

base::Result<Journal> Journal::create(const std::string& path, const JournalContents& contents) {
  const std::string temporary = path + ".new";
  auto file = FileHandle::open(temporary, O_RDWR | O_CREAT | O_TRUNC);
  if (!file) return file.error();
  const std::string header = header_of(contents);
  if (auto status = file->write_all(header + record_of(contents.durable)); !status) return status.error();
  if (auto status = file->sync(); !status) return status.error();
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return base::not_found(path + ": cannot be written: " + std::strerror(errno));
  if (auto status = sync_folder_of(path); !status) return status.error();
  return Journal(std::move(file).value(), header.size());
}

base::Result<Journal> Journal::reopen(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  auto file = FileHandle::open(path, O_RDWR);
  if (!file) return file.error();
  return Journal(std::move(file).value(), text->find('\n') + 1);
}

base::Status Journal::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return base::not_found(path + ": cannot be removed: " + std::strerror(errno));
  return sync_folder_of(path);
}

base::Status Journal::set_durable(const DurableRows& durable) const {
  return file_.write_all_at(record_of(durable), record_offset_);
}

}  // namespace trireme::launch
