#include "runtime/tokenizer/tokenizer_json_file.h"

#include <fstream>
#include <limits>
#include <string_view>

namespace trireme::tokenizer {
namespace {

using nlohmann::json;

constexpr std::uintmax_t kMaxFileBytes = 256 << 20;
constexpr int kMaxDepth = 64;  // the rest is read by functions that call themselves

// Receives the parser's events; what it takes for itself does not become part of the JSON value.
class Collector {
 public:
  explicit Collector(TokenizerJson& output) : output_(output) {}

  // Whether to keep `value` in the JSON value.
  bool operator()(int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) fail("nests too deeply");
    if (event == json::parse_event_t::key) {
      if (depth == 1) in_model_ = value == "model";
      if (depth == 2) section_ = in_model_ ? section_of(value) : Section::kOther;
      if (depth == 3 && section_ == Section::kVocab) token_ = value.get<std::string>();
      return true;
    }
    if (depth == 2 && event == json::parse_event_t::array_start && section_ == Section::kVocab) {
      section_ = Section::kScoredVocab;
    }
    if (depth <= 2) return true;
    switch (section_) {
      case Section::kVocab: return vocab_event(event, value);
      case Section::kScoredVocab: return scored_vocab_event(depth, event, value);
      case Section::kMerges: return merges_event(depth, event, value);
      case Section::kOther: break;
    }
    return true;
  }

  const std::string& error() const { return error_; }

 private:
  enum class Section { kOther, kVocab, kScoredVocab, kMerges };

  static Section section_of(const json& key) {
    return key == "vocab" ? Section::kVocab : key == "merges" ? Section::kMerges : Section::kOther;
  }

  bool vocab_event(json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::value && value.is_number_integer() && value.get<std::int64_t>() >= 0 &&
        value.get<std::int64_t>() <= std::numeric_limits<std::int32_t>::max()) {
      output_.vocab.emplace_back(std::move(token_), value.get<std::int32_t>());
    } else {
      fail("model.vocab holds something else than an id");
    }
    return false;
  }

  // An entry is ["token", score].
  bool scored_vocab_event(int depth, json::parse_event_t event, const json& value) {
    if (depth == 3 && event == json::parse_event_t::array_start) {
      pair_.clear();
      has_score_ = false;
      return true;
    }
    if (depth == 4 && event == json::parse_event_t::value && pair_.empty() && value.is_string()) {
      pair_.push_back(value.get<std::string>());
    } else if (depth == 4 && event == json::parse_event_t::value && pair_.size() == 1 && !has_score_ &&
               value.is_number()) {
      score_ = value.get<double>();
      has_score_ = true;
    } else if (depth == 3 && event == json::parse_event_t::array_end && has_score_) {
      output_.scored_vocab.emplace_back(std::move(pair_[0]), score_);
    } else {
      fail("model.vocab holds something else than pairs of a token and a score");
    }
    return false;
  }

  // A merge is "left right" or ["left", "right"].
  bool merges_event(int depth, json::parse_event_t event, const json& value) {
    if (depth == 3 && event == json::parse_event_t::array_start) {
      pair_.clear();
      return true;
    }
    if (depth == 4 && event == json::parse_event_t::value && value.is_string() && pair_.size() < 2) {
      pair_.push_back(value.get<std::string>());
    } else if (depth == 3 && event == json::parse_event_t::array_end && pair_.size() == 2) {
      output_.merges.emplace_back(std::move(pair_[0]), std::move(pair_[1]));
    } else if (depth == 3 && event == json::parse_event_t::value && value.is_string()) {
      add_merge(value.get_ref<const std::string&>());
    } else {
      fail("model.merges holds something else than pairs of tokens");
    }
    return false;
  }

  void add_merge(std::string_view merge) {
    const std::size_t space = merge.find(' ');
    if (space == std::string_view::npos || merge.find(' ', space + 1) != std::string_view::npos) {
      fail("model.merges: \"" + std::string(merge) + "\" is not a pair of tokens");
      return;
    }
    output_.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }

  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  TokenizerJson& output_;
  bool in_model_ = false;
  Section section_ = Section::kOther;
  std::string token_;
  std::vector<std::string> pair_;
  double score_ = 0;
  bool has_score_ = false;
  std::string error_;
};

}  // namespace

base::Result<TokenizerJson> parse_tokenizer_json(const std::string& text) {
  TokenizerJson result;
  Collector collector(result);
  try {
    result.rest = json::parse(
        text, [&](int depth, json::parse_event_t event, json& value) { return collector(depth, event, value); });
  } catch (const json::exception& error) {
    return base::invalid_argument(std::string("is not valid JSON: ") + error.what());
  }
  if (!collector.error().empty()) return base::invalid_argument(collector.error());
  if (!result.rest.is_object()) return base::invalid_argument("is not a JSON object");
  return result;
}

base::Result<std::string> read_tokenizer_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return base::not_found(path.string() + " does not exist");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMaxFileBytes) return base::invalid_argument(path.string() + " is larger than 256 MiB");
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) {
    return base::invalid_argument(path.string() + " cannot be read");
  }
  return text;
}

base::Result<nlohmann::json> parse_json_object(const std::string& text, const std::string& file) {
  // Deep nesting would be destroyed by functions that call themselves.
  json value = json::parse(
      text, [](int depth, json::parse_event_t, const json&) { return depth <= kMaxDepth; }, false);
  if (!value.is_object()) return base::invalid_argument(file + " is not a JSON object");
  return value;
}

}  // namespace trireme::tokenizer
