#include "parallel/plan_broadcast.h"

#include <algorithm>

namespace trireme::parallel {

PlanBroadcast::PlanBroadcast(MessageLoop& loop, std::span<const int> destinations, std::uint32_t epoch) {
  for (const int destination : destinations) {
    senders_.push_back(std::make_unique<ControlSender>(loop, destination, Tag::kPlan, epoch));
  }
}

void PlanBroadcast::send(std::span<const std::byte> plan) {
  for (auto& sender : senders_) sender->send(plan);
}

bool PlanBroadcast::all_sent() const {
  return std::all_of(senders_.begin(), senders_.end(), [](const auto& sender) { return sender->all_sent(); });
}

}  // namespace trireme::parallel
