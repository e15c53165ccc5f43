// DynamicBatcher: which sequences wait for admission, in what order they get it, and when. Tenants share the engine
// fairly: the next sequence is one of the tenant that has been served least (virtual token counter: Sheng et al. 2024,
// "Fairness in Serving Large Language Models", section 4.1; here in computed tokens); within a tenant by GoesBefore.
// Engine thread only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler/batching_policy.h"
#include "scheduler/sequence.h"

namespace trireme::scheduler {

class DynamicBatcher {
 public:
  explicit DynamicBatcher(BatchingPolicy policy);

  const BatchingPolicy& policy() const { return policy_; }

  // Sets what the order depends on; before anything else that concerns the sequence.
  void joined(Sequence& sequence, TimePoint now);
  void left(const Sequence& sequence);  // it does not exist any more

  void waits(Sequence& sequence);
  void waits_no_longer(Sequence& sequence);
  void runs(const Sequence& sequence) { ++num_running_[bucket_of(sequence)]; }
  void runs_no_longer(const Sequence& sequence) { --num_running_[bucket_of(sequence)]; }
  void computed(const Sequence& sequence, std::int32_t num_tokens);

  std::size_t num_waiting() const { return num_waiting_; }
  std::int64_t waiting_tokens() const { return waiting_tokens_; }

  // Whether new sequences should be admitted to a step that has room for `tokens_left` more tokens and, without them,
  // holds `work`.
  enum class StepWork { kNone, kSome };
  bool is_due(TimePoint now, StepWork work, std::int64_t tokens_left) const;

 private:
  friend class AdmissionRound;
  using RankedSet = std::set<Sequence*, GoesBefore>;
  struct Tenant {
    std::vector<RankedSet> buckets;  // those that wait
    std::int64_t served_tokens = 0;
    std::int64_t num_sequences = 0;
  };

  std::size_t bucket_of(const Sequence& sequence) const;
  bool is_full(std::size_t bucket) const;
  Tenant& tenant_of(const Sequence& sequence) { return tenants_.at(sequence.request->tenant); }
  RankedSet& queue_of(const Sequence& sequence);

  BatchingPolicy policy_;
  std::map<std::string, Tenant> tenants_;
  RankedSet resumed_;                      // preempted ones: they go first, whatever the window says
  std::multiset<TimePoint> arrivals_;      // of those that wait and have not run yet
  std::vector<std::int32_t> num_running_;  // per bucket
  std::size_t num_waiting_ = 0;
  std::int64_t waiting_tokens_ = 0;
};

// The sequences to try in one step, one after the other. Each is given once; the one given last may be admitted
// (waits_no_longer) before next() is called again.
class AdmissionRound {
 public:
  enum class Who { kAll, kResumed };
  AdmissionRound(DynamicBatcher& batcher, Who who);

  // Nothing when all were given. Buckets at their cap come last, when no other has anyone left to try.
  Sequence* next();

 private:
  struct Lane {
    const DynamicBatcher::Tenant* tenant;
    std::size_t bucket;
    DynamicBatcher::RankedSet::const_iterator place, end;
  };
  Lane* best_lane(bool ignore_caps);

  DynamicBatcher& batcher_;
  DynamicBatcher::RankedSet::const_iterator resumed_;
  std::vector<Lane> lanes_;
};

}  // namespace trireme::scheduler
