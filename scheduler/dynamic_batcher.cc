#include "scheduler/dynamic_batcher.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace trireme::scheduler {
namespace {

constexpr std::int32_t kMaxPriority = 1000;

}  // namespace

DynamicBatcher::DynamicBatcher(BatchingPolicy policy)
    : policy_(std::move(policy)), num_running_(policy_.bucket_bounds.size() + 1, 0) {
  TRIREME_CHECK(std::is_sorted(policy_.bucket_bounds.begin(), policy_.bucket_bounds.end()));
}

// A tenant that comes (back) is lifted to the least served of those that are there, so that idle time earns no credit.
void DynamicBatcher::joined(Sequence& sequence, TimePoint now) {
  sequence.arrival = now;
  sequence.rank = now - std::clamp(sequence.request->priority, -kMaxPriority, kMaxPriority) * policy_.priority_worth;
  Tenant& own = tenants_[sequence.request->tenant];
  if (own.num_sequences++ > 0) return;
  own.buckets.resize(num_running_.size());
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const auto& [name, tenant] : tenants_) {
    if (&tenant != &own && tenant.num_sequences > 0) least = std::min(least, tenant.served_tokens);
  }
  if (least != std::numeric_limits<std::int64_t>::max()) own.served_tokens = std::max(own.served_tokens, least);
  // Those that went away and are owed nothing would be lifted too: they need not be kept.
  std::erase_if(tenants_, [&](const auto& entry) {
    return entry.second.num_sequences == 0 && entry.second.served_tokens <= least;
  });
}

void DynamicBatcher::left(const Sequence& sequence) {
  --tenant_of(sequence).num_sequences;
}

std::size_t DynamicBatcher::bucket_of(const Sequence& sequence) const {
  const auto& bounds = policy_.bucket_bounds;
  return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), sequence.prompt_length()) -
                                  bounds.begin());
}

bool DynamicBatcher::is_full(std::size_t bucket) const {
  return policy_.bucket_cap > 0 && num_running_[bucket] >= policy_.bucket_cap;
}

DynamicBatcher::RankedSet& DynamicBatcher::queue_of(const Sequence& sequence) {
  return sequence.num_preemptions > 0 ? resumed_ : tenant_of(sequence).buckets[bucket_of(sequence)];
}

void DynamicBatcher::waits(Sequence& sequence) {
  queue_of(sequence).insert(&sequence);
  if (sequence.num_preemptions == 0) arrivals_.insert(sequence.arrival);
  ++num_waiting_;
  waiting_tokens_ += sequence.num_known();
}

void DynamicBatcher::waits_no_longer(Sequence& sequence) {
  TRIREME_CHECK(queue_of(sequence).erase(&sequence) == 1) << "sequence " << sequence.id;
  if (sequence.num_preemptions == 0) arrivals_.erase(arrivals_.find(sequence.arrival));
  --num_waiting_;
  waiting_tokens_ -= sequence.num_known();
}

void DynamicBatcher::computed(const Sequence& sequence, std::int32_t num_tokens) {
  tenant_of(sequence).served_tokens += num_tokens;
}

bool DynamicBatcher::is_due(TimePoint now, StepWork work, std::int64_t tokens_left) const {
  if (work == StepWork::kNone || policy_.window.count() == 0 || arrivals_.empty()) return true;
  return now - *arrivals_.begin() >= policy_.window || waiting_tokens_ >= tokens_left;
}

AdmissionRound::AdmissionRound(DynamicBatcher& batcher, Who who)
    : batcher_(batcher), resumed_(batcher.resumed_.begin()) {
  if (who == Who::kResumed) return;
  for (const auto& [name, tenant] : batcher_.tenants_) {
    for (std::size_t bucket = 0; bucket < tenant.buckets.size(); ++bucket) {
      const auto& queue = tenant.buckets[bucket];
      if (!queue.empty()) lanes_.push_back({&tenant, bucket, queue.begin(), queue.end()});
    }
  }
}

AdmissionRound::Lane* AdmissionRound::best_lane(bool ignore_caps) {
  Lane* best = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.place == lane.end || (!ignore_caps && batcher_.is_full(lane.bucket))) continue;
    const auto goes_before = [](const Lane& a, const Lane& b) {
      if (a.tenant != b.tenant) return a.tenant->served_tokens < b.tenant->served_tokens;
      return GoesBefore{}(*a.place, *b.place);
    };
    if (best == nullptr || goes_before(lane, *best)) best = &lane;
  }
  return best;
}

Sequence* AdmissionRound::next() {
  if (resumed_ != batcher_.resumed_.end()) return *resumed_++;
  Lane* lane = best_lane(false);
  if (lane == nullptr) lane = best_lane(true);
  return lane == nullptr ? nullptr : *lane->place++;
}

}  // namespace trireme::scheduler
