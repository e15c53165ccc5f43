#include "launch/log.h"

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>

#include <string>

namespace trireme::launch {

struct Log::Impl {
  spdlog::logger logger{"trireme", std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>()};
};

Log::Log() : impl_(std::make_unique<Impl>()) {
  impl_->logger.flush_on(spdlog::level::err);
  set_place({});
}
Log::~Log() = default;
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;

void Log::set_place(const LogPlace& place) {
  std::string prefix;
  if (place.size > 1) prefix += " rank " + std::to_string(place.rank);
  if (place.size > 1 && place.replica >= 0) prefix += " replica " + std::to_string(place.replica);
  if (place.size > 1 && place.stage >= 0) prefix += " stage " + std::to_string(place.stage);
  if (!prefix.empty()) prefix = " [" + prefix.substr(1) + "]";
  impl_->logger.set_pattern("[%H:%M:%S.%e]" + prefix + " [%^%l%$] %v");
}

void Log::only_warnings() {
  impl_->logger.set_level(spdlog::level::warn);
}

void Log::info(std::string_view message) {
  impl_->logger.info("{}", message);
}
void Log::warn(std::string_view message) {
  impl_->logger.warn("{}", message);
}
void Log::error(std::string_view message) {
  impl_->logger.error("{}", message);
}

}  // namespace trireme::launch
