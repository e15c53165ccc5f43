// FakePipeline: the stages of one replica as a model that applies plans to block contents and checks, with CHECK
// failures, every rule that a plan must keep. Results can be fetched later, in order, as if the plans were in flight.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/scheduler.h"
#include "tests/scheduler/token_oracle.h"

namespace trireme::scheduler {

class FakePipeline {
 public:
  explicit FakePipeline(SchedulerConfig config);

  // Must be called before a plan names the sequence.
  void expect(SequenceId sequence, std::shared_ptr<const TokenOracle> oracle);
  // From now on the sequence's samples and scores are not finite.
  void break_sequence(SequenceId sequence) { broken_.insert(sequence); }

  void submit(const StepPlan& plan);
  StepResult fetch_result();
  std::size_t plans_in_flight() const { return in_flight_.size(); }
  std::size_t num_sequences() const { return sequences_.size(); }
  std::int64_t rows_computed() const { return rows_computed_; }

 private:
  using GroupBlockId = std::pair<std::size_t, BlockId>;
  struct StageSequence {
    std::vector<std::vector<BlockId>> tables;
    std::int32_t next_position = -1;
  };
  struct InFlight {
    StepResult result;
    std::map<GroupBlockId, SequenceId> used;
  };

  void apply_changes(const StepPlan& plan);
  void copy(const BlockCopy& copy, InFlight& entry);
  void compute(const SequenceWork& work, InFlight& entry);
  void check_visible(const SequenceWork& work, const TokenOracle& oracle, std::size_t group, InFlight& entry);
  void write(const SequenceWork& work, const TokenOracle& oracle, std::size_t group, InFlight& entry);
  void check_writable(SequenceId writer, GroupBlockId block) const;
  void answer(const SequenceWork& work, const TokenOracle& oracle, StepResult& result) const;
  void check_budget(const StepPlan& plan) const;
  std::uint64_t& slot(std::size_t group, BlockId block, std::int32_t offset);

  SchedulerConfig config_;
  StepNumber next_step_ = 0;
  std::int64_t rows_computed_ = 0;
  std::vector<std::vector<std::uint64_t>> contents_;  // per group: [num_blocks, block_tokens]
  std::map<SequenceId, std::shared_ptr<const TokenOracle>> oracles_;
  std::map<SequenceId, StageSequence> sequences_;
  std::set<SequenceId> broken_;
  std::deque<InFlight> in_flight_;
};

}  // namespace trireme::scheduler
