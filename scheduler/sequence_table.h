// SequenceTable: owns all sequences of one replica and keeps them in the order that each state is served in, so that no
// step looks at all that wait.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/dynamic_batcher.h"
#include "scheduler/sequence.h"

namespace trireme::scheduler {

class SequenceTable {
 public:
  using RankedSet = std::set<Sequence*, GoesBefore>;

  explicit SequenceTable(BatchingPolicy policy) : batcher_(std::move(policy)) {}

  // As kWaiting, or as kParked where `shares_prompt` and a sibling that came earlier has not computed the prompt yet.
  Sequence& add(std::unique_ptr<Sequence> sequence, bool shares_prompt, TimePoint now);
  Sequence* find(SequenceId id) const;
  void erase(Sequence& sequence);

  void move(Sequence& sequence, SequenceState state);
  // Lets the parked siblings of a sequence wait for admission.
  void prompt_computed(const Sequence& sequence);

  DynamicBatcher& batcher() { return batcher_; }  // knows those that wait
  const RankedSet& running() const { return running_; }
  const RankedSet& catching_up() const { return catching_up_; }
  const std::deque<Sequence*>& ready() const { return ready_; }  // first come, first served
  std::size_t num_decoding() const { return running_.size() - catching_up_.size(); }
  std::size_t size() const { return all_.size(); }

  // A sequence whose deadline is before or at `now`.
  Sequence* any_expired(TimePoint now) const;

 private:
  struct Family {
    SequenceId leader;  // computes the prompt
    std::deque<Sequence*> parked;
  };
  void enter(Sequence& sequence);
  void leave(Sequence& sequence);
  void stop_running(Sequence& sequence);
  void leave_family(Sequence& sequence);

  std::unordered_map<SequenceId, std::unique_ptr<Sequence>> all_;
  DynamicBatcher batcher_;
  RankedSet running_, catching_up_;
  std::deque<Sequence*> ready_;
  std::unordered_map<RequestId, Family> families_;  // while their prompt is not computed
  std::set<std::pair<TimePoint, Sequence*>> deadlines_;
};

}  // namespace trireme::scheduler
