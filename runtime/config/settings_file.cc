#include "runtime/config/settings_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <streambuf>
#include <utility>

#include <yaml-cpp/eventhandler.h>

#include "runtime/config/value_syntax.h"

namespace trireme::config {
namespace {

constexpr std::size_t kMaxShownCharacters = 40;

std::string shown(std::string_view text) {
  std::string result(text.substr(0, kMaxShownCharacters));
  std::replace_if(
      result.begin(), result.end(), [](unsigned char c) { return c < 0x20; }, '?');
  return result.size() < text.size() ? result + "…" : result;
}

Position position_of(const YAML::Mark& mark) {
  return mark.is_null() ? Position{} : Position{mark.line + 1, mark.column + 1};
}

// Collects parser events into settings; throws YAML::ParserException at the first event that has no place in the
// format.
class SettingsCollector : public YAML::EventHandler {
 public:
  std::vector<FileSetting> take() { return std::move(settings_); }
  void refuse_further_documents() { finished_ = true; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (finished_) refuse(mark, "only one YAML document is allowed");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_plain(mark, "?", anchor);
    switch (place_) {
      case Place::kRoot: return;  // an empty document: no settings
      case Place::kSectionKey:
      case Place::kSettingKey: refuse(mark, "expected a key"); return;
      case Place::kSectionValue: place_ = Place::kSectionKey; return;
      case Place::kSettingValue: add(mark, {}, false, true); return;
      case Place::kList: refuse(mark, "an item of the list is empty"); return;
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "aliases (*name) are not allowed"); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_plain(mark, tag, anchor);
    const bool quoted = tag == "!";
    switch (place_) {
      case Place::kRoot: refuse(mark, "expected sections with settings, not a single value"); return;
      case Place::kSectionKey: begin_section(mark, value); return;
      case Place::kSectionValue:
        refuse(mark, "expected settings in section '" + shown(section_) + "', not a single value");
        return;
      case Place::kSettingKey: begin_setting(mark, value); return;
      case Place::kSettingValue: add(mark, value, quoted, false); return;
      case Place::kList: add_item(mark, value, quoted); return;
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_plain(mark, tag, anchor);
    if (place_ != Place::kSettingValue) refuse(mark, "a list has no place here");
    add(mark, {}, false, false);
    settings_.back().is_list = true;
    place_ = Place::kList;
  }
  void OnSequenceEnd() override { place_ = Place::kSettingKey; }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_plain(mark, tag, anchor);
    if (place_ == Place::kRoot) {
      place_ = Place::kSectionKey;
    } else if (place_ == Place::kSectionValue) {
      place_ = Place::kSettingKey;
    } else {
      refuse(mark, "nested deeper than section and setting");
    }
  }
  void OnMapEnd() override { place_ = place_ == Place::kSettingKey ? Place::kSectionKey : Place::kRoot; }

 private:
  // What the next event is.
  enum class Place { kRoot, kSectionKey, kSectionValue, kSettingKey, kSettingValue, kList };

  [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& message) {
    throw YAML::ParserException(mark, message);
  }

  static void check_plain(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "anchors (&name) are not allowed");
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags are not allowed: '" + shown(tag) + "'");
  }

  void begin_section(const YAML::Mark& mark, const std::string& name) {
    if (!sections_seen_.insert(name).second) refuse(mark, "duplicate section '" + shown(name) + "'");
    section_ = name;
    section_position_ = position_of(mark);
    names_seen_.clear();
    place_ = Place::kSectionValue;
  }

  void begin_setting(const YAML::Mark& mark, const std::string& name) {
    if (!names_seen_.insert(name).second) refuse(mark, "duplicate key '" + shown(name) + "'");
    name_ = name;
    name_position_ = position_of(mark);
    place_ = Place::kSettingValue;
  }

  void add(const YAML::Mark& mark, const std::string& value, bool quoted, bool null) {
    settings_.push_back({.section = section_,
                         .name = name_,
                         .value = value,
                         .is_quoted = quoted,
                         .is_null = null,
                         .section_position = section_position_,
                         .name_position = name_position_,
                         .value_position = position_of(mark)});
    place_ = Place::kSettingKey;
  }

  void add_item(const YAML::Mark& mark, const std::string& value, bool quoted) {
    if (value.find(',') != std::string::npos) refuse(mark, "an item of a list must not contain a comma");
    FileSetting& list = settings_.back();
    if (!list.value.empty()) list.value += ',';
    list.value += value;
    list.is_quoted |= quoted;
  }

  Place place_ = Place::kRoot;
  bool finished_ = false;
  std::string section_, name_;
  Position section_position_, name_position_;
  std::set<std::string> sections_seen_, names_seen_;
  std::vector<FileSetting> settings_;
};

Position position_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - line_start) + 1};
}

// Offset of the first tab among the blanks that begin a line.
std::optional<std::size_t> find_indenting_tab(std::string_view text) {
  bool in_indent = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_indent && text[i] == '\t') return i;
    in_indent = text[i] == '\n' || (in_indent && text[i] == ' ');
  }
  return std::nullopt;
}

base::Status check_bytes(std::string_view text, std::string_view file_name) {
  if (text.size() > kMaxFileBytes) {
    return base::invalid_argument(describe_position(file_name, {}) + ": larger than " +
                                  std::to_string(kMaxFileBytes / 1024) + " KiB, so not a configuration file");
  }
  std::size_t bad_offset = 0;
  if (!is_plain_utf8(text, "\t\n\r", bad_offset)) {
    return base::invalid_argument(describe_position(file_name, position_at(text, bad_offset)) +
                                  ": not UTF-8 text, or a control character");
  }
  if (const std::optional<std::size_t> tab = find_indenting_tab(text)) {
    return base::invalid_argument(describe_position(file_name, position_at(text, *tab)) +
                                  ": a tab cannot indent; use spaces");
  }
  return base::ok_status();
}

}  // namespace

std::string describe_position(std::string_view file_name, Position position) {
  std::string text(file_name);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  if (position.line == 0) return text;
  return text + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
}

base::Result<std::vector<FileSetting>> read_settings_file(std::string_view text, std::string_view file_name) {
  if (const base::Status status = check_bytes(text, file_name); !status) return status.error();
  SettingsCollector collector;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(collector)) {
      collector.refuse_further_documents();
      while (parser.HandleNextDocument(collector)) {
      }
    }
  } catch (const YAML::Exception& error) {
    return base::invalid_argument(describe_position(file_name, position_of(error.mark)) + ": " + error.msg);
  }
  std::vector<FileSetting> settings = collector.take();
  if (settings.empty()) {
    return base::invalid_argument(describe_position(file_name, {}) + ": holds no setting; leave the file out instead");
  }
  return settings;
}

}  // namespace trireme::config
