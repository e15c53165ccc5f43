// Log: lines on standard error, each with time, rank and stage. Standard output belongs to what a command prints.
#pragma once

#include <memory>
#include <string_view>

namespace trireme::launch {

// Where the messages of a rank come from. Alone (size 1) the prefix is left out.
struct LogPlace {
  int rank = 0, size = 1;
  int replica = -1, stage = -1;  // -1: not known yet
};

class Log {
 public:
  Log();
  ~Log();
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;

  // Not while another thread logs; everything else may be called from any thread.
  void set_place(const LogPlace& place);

  // From now on info() says nothing.
  void only_warnings();

  void info(std::string_view message);
  void warn(std::string_view message);
  void error(std::string_view message);  // written out at once

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::launch
