// TRIREME_CHECK: guards against our own mistakes, on in release builds too.
// Never reachable by user input (that returns Result). A failure throws CheckFailure, which only the rank's main
// catches.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace trireme::base {

class CheckFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Collects the text of one failed check.
class CheckMessage {
 public:
  CheckMessage(const char* file, int line, const char* condition) {
    text_ << file << ':' << line << ": check failed: " << condition << ' ';
  }
  template <typename T>
  CheckMessage& operator<<(const T& value) {
    text_ << value;
    return *this;
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

// Throws in an operator of lower precedence than <<, so that the message is complete.
struct CheckThrower {
  [[noreturn]] void operator&(const CheckMessage& message) const { throw CheckFailure(message.text()); }
};

}  // namespace trireme::base

#define TRIREME_CHECK(condition)     \
  (condition) ? static_cast<void>(0) \
              : ::trireme::base::CheckThrower{} & ::trireme::base::CheckMessage(__FILE__, __LINE__, #condition)
