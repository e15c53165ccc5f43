#include "parallel/result_return.h"

#include <utility>

namespace trireme::parallel {

ResultSender::ResultSender(MessageLoop& loop, std::uint32_t epoch) : sender_(loop, 0, Tag::kResult, epoch) {}

void ResultSender::send(std::span<const std::byte> result) {
  sender_.send(result);
}

bool ResultSender::all_sent() const {
  return sender_.all_sent();
}

ResultCollector::ResultCollector(MessageLoop& loop, std::uint32_t epoch) {
  for (int rank = 0; rank < loop.communicator().size(); ++rank) {
    receivers_.push_back(std::make_unique<ControlReceiver>(loop, rank, Tag::kResult, epoch));
  }
}

std::optional<ResultCollector::Result> ResultCollector::try_receive() {
  for (std::size_t i = 0; i < receivers_.size(); ++i) {
    const std::size_t rank = (next_ + i) % receivers_.size();
    if (auto bytes = receivers_[rank]->try_receive()) {
      next_ = (rank + 1) % receivers_.size();
      return Result{static_cast<int>(rank), std::move(*bytes)};
    }
  }
  return std::nullopt;
}

}  // namespace trireme::parallel
