// FieldReader: the fields of a JSON object, each with its exact type and range. The first mistake is kept and makes the
// rest of no account, so that callers read all fields and then ask once. The library's own conversions narrow silently.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::launch {

// What is wrong with a request, and with which of its fields (empty: with the whole).
struct RequestError {
  std::string field;
  std::string message;  // one line; quotes no more of the input than a short name
};

enum class Null { kRefused, kAbsent };  // what `null` means in place of a value

class FieldReader {
 public:
  // `object` outlives this and must be an object.
  explicit FieldReader(const nlohmann::json& object) : object_(object) {}

  // Nothing: absent, or wrong (then error() says so). Ranges include both ends.
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t least, std::int64_t greatest,
                                      Null null = Null::kRefused);
  std::optional<std::uint64_t> unsigned_integer(const std::string& name, Null null = Null::kRefused);
  std::optional<double> number(const std::string& name, double least, double greatest, Null null = Null::kRefused);
  std::optional<bool> boolean(const std::string& name, Null null = Null::kRefused);
  std::optional<std::string> text(const std::string& name, std::size_t max_bytes, Null null = Null::kRefused);
  // Null where absent or JSON's null.
  const nlohmann::json* value(const std::string& name);
  // A field that is known and has no effect here.
  void ignore(const std::string& name) { known_.insert(name); }
  // A field that asks for something that is not done: wrong unless absent or null.
  void refuse(const std::string& name, const std::string& why);

  // Keeps the first.
  void fail(const std::string& field, const std::string& message);
  const std::optional<RequestError>& error() const { return error_; }
  // Fields that nobody has asked for.
  std::vector<std::string> unknown_fields() const;

 private:
  const nlohmann::json* find(const std::string& name, Null null);

  const nlohmann::json& object_;
  std::set<std::string, std::less<>> known_;
  std::optional<RequestError> error_;
};

}  // namespace trireme::launch
