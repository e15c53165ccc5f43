#include "runtime/checkpoint/bounded_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "runtime/checkpoint/error_text.h"

namespace trireme::checkpoint {
namespace {

using nlohmann::json;

// Builds the document from parse events; an event that returns false ends the parse, with the reason in error().
class DocumentBuilder : public nlohmann::json_sax<json> {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return fail("binary value"); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    if (open_values_.back()->contains(value)) return fail("duplicate key " + in_quotes(value));
    key_ = std::move(value);
    return true;
  }
  // The library's own text is left out: it quotes the input, at any length.
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail("not valid JSON at byte " + std::to_string(position));
  }

  json& document() { return document_; }
  const std::string& error() const { return error_; }

 private:
  bool fail(std::string reason) {
    error_ = std::move(reason);
    return false;
  }

  json* insert(json value) {
    if (open_values_.empty()) return &(document_ = std::move(value));
    json& parent = *open_values_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }
  bool add(json value) {
    insert(std::move(value));
    return true;
  }
  bool open(json value) {
    if (open_values_.size() == static_cast<std::size_t>(kMaxJsonDepth)) return fail("JSON is nested too deeply");
    open_values_.push_back(insert(std::move(value)));
    return true;
  }
  bool close() {
    open_values_.pop_back();
    return true;
  }

  json document_;
  std::vector<json*> open_values_;  // outermost first; a value does not move before its last child is closed
  std::string key_;
  std::string error_;
};

}  // namespace

base::Result<json> parse_bounded_json(std::string_view text, const std::string& file) {
  // The library takes a NUL byte for the end of the text.
  if (text.find('\0') != std::string_view::npos) return base::invalid_argument(file + ": NUL byte in JSON");
  DocumentBuilder builder;
  if (!json::sax_parse(text, &builder)) return base::invalid_argument(file + ": " + builder.error());
  return std::move(builder.document());
}

}  // namespace trireme::checkpoint
