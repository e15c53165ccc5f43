#include "tests/scheduler/fake_pipeline.h"

#include <algorithm>

#include "base/check.h"

namespace trireme::scheduler {

FakePipeline::FakePipeline(SchedulerConfig config) : config_(std::move(config)) {
  for (const KvGroup& group : config_.kv_groups) {
    contents_.emplace_back(static_cast<std::size_t>(group.num_blocks * config_.block_tokens), 0);
  }
}

void FakePipeline::expect(SequenceId sequence, std::shared_ptr<const TokenOracle> oracle) {
  TRIREME_CHECK(oracles_.emplace(sequence, std::move(oracle)).second) << "id " << sequence << " is used again";
}

std::uint64_t& FakePipeline::slot(std::size_t group, BlockId block, std::int32_t offset) {
  TRIREME_CHECK(block.value >= 0 && block.value < config_.kv_groups[group].num_blocks) << "block " << block;
  return contents_[group][static_cast<std::size_t>(block.value * config_.block_tokens + offset)];
}

void FakePipeline::submit(const StepPlan& plan) {
  const base::Result<StepPlan> received = decode_step_plan(encode(plan));
  TRIREME_CHECK(received.ok() && *received == plan);
  TRIREME_CHECK(plan.step == next_step_++) << plan.step;
  TRIREME_CHECK(plan.epoch == config_.epoch && plan.replica == config_.replica && !plan.work.empty());
  TRIREME_CHECK(in_flight_.size() < static_cast<std::size_t>(config_.max_plans_in_flight));
  check_budget(plan);
  apply_changes(plan);
  TRIREME_CHECK(sequences_.size() <= static_cast<std::size_t>(config_.max_batch));

  InFlight entry;
  entry.result.epoch = plan.epoch;
  entry.result.replica = plan.replica;
  entry.result.step = plan.step;
  for (const BlockCopy& item : plan.copies) copy(item, entry);
  std::set<SequenceId> seen;
  for (const SequenceWork& work : plan.work) {
    TRIREME_CHECK(seen.insert(work.sequence).second) << "sequence " << work.sequence << " twice in a plan";
    compute(work, entry);
  }
  in_flight_.push_back(std::move(entry));
}

StepResult FakePipeline::fetch_result() {
  TRIREME_CHECK(!in_flight_.empty());
  StepResult result = std::move(in_flight_.front().result);
  in_flight_.pop_front();
  return result;
}

void FakePipeline::check_budget(const StepPlan& plan) const {
  double cost = 0;
  for (const SequenceWork& work : plan.work) {
    for (std::size_t i = 0; i < work.tokens.size(); ++i) {
      cost += 1 + config_.context_cost * (work.first_position + static_cast<double>(i));
    }
  }
  TRIREME_CHECK(cost <= config_.max_step_tokens + 1e-6 || plan.num_rows() == 1) << "cost " << cost;
}

void FakePipeline::apply_changes(const StepPlan& plan) {
  for (const SequenceId id : plan.released) TRIREME_CHECK(sequences_.erase(id) == 1) << "unknown sequence " << id;
  for (const SequenceAdmission& admission : plan.admitted) {
    StageSequence sequence;
    sequence.tables.resize(config_.kv_groups.size());
    TRIREME_CHECK(sequences_.emplace(admission.sequence, std::move(sequence)).second) << admission.sequence;
    const TokenOracle& oracle = *oracles_.at(admission.sequence);
    TRIREME_CHECK(admission.prompt_length == static_cast<std::int32_t>(oracle.request().prompt.size()));
    TRIREME_CHECK(admission.sampling == oracle.request().sampling);
    const auto& history = admission.history;
    TRIREME_CHECK(history.empty() != admission.sampling.needs_history());
    TRIREME_CHECK(std::equal(history.begin(), history.end(), oracle.tokens().begin()));
  }
  for (const BlockAppend& append : plan.appended) {
    auto& table = sequences_.at(append.sequence).tables[append.group];
    table.insert(table.end(), append.blocks.begin(), append.blocks.end());
  }
}

void FakePipeline::copy(const BlockCopy& copy, InFlight& entry) {
  const SequenceId nobody{};
  check_writable(nobody, {copy.group, copy.target});
  entry.used[{copy.group, copy.source}] = nobody;
  for (std::int32_t i = 0; i < copy.num_tokens; ++i) {
    slot(copy.group, copy.target, i) = slot(copy.group, copy.source, i);
  }
}

void FakePipeline::compute(const SequenceWork& work, InFlight& entry) {
  const TokenOracle& oracle = *oracles_.at(work.sequence);
  StageSequence& sequence = sequences_.at(work.sequence);
  TRIREME_CHECK(sequence.next_position < 0 || sequence.next_position == work.first_position);
  sequence.next_position = work.first_position + static_cast<std::int32_t>(work.tokens.size());
  TRIREME_CHECK(sequence.next_position <= static_cast<std::int32_t>(oracle.tokens().size()));
  TRIREME_CHECK(std::equal(work.tokens.begin(), work.tokens.end(), oracle.tokens().begin() + work.first_position))
      << "sequence " << work.sequence << " at " << work.first_position << " computes tokens that are not its own";
  for (std::size_t group = 0; group < config_.kv_groups.size(); ++group) {
    check_visible(work, oracle, group, entry);
    write(work, oracle, group, entry);
  }
  rows_computed_ += static_cast<std::int64_t>(work.tokens.size());
  answer(work, oracle, entry.result);
}

// All that the first position sees must hold this sequence's own past.
void FakePipeline::check_visible(const SequenceWork& work, const TokenOracle& oracle, std::size_t group,
                                 InFlight& entry) {
  const KvGroup& kv = config_.kv_groups[group];
  const auto& table = sequences_.at(work.sequence).tables[group];
  const std::int32_t first = kv.window == 0 ? 0 : std::max(0, work.first_position - kv.window + 1);
  for (std::int32_t p = first; p < work.first_position; ++p) {
    const BlockId block = table.at(static_cast<std::size_t>(p / config_.block_tokens));
    TRIREME_CHECK(slot(group, block, p % config_.block_tokens) == oracle.content(p))
        << "step " << next_step_ - 1 << ": sequence " << work.sequence << " at " << work.first_position
        << " sees in group " << group << ", block " << block << " something else than its own position " << p;
    entry.used[{group, block}] = work.sequence;
  }
}

void FakePipeline::write(const SequenceWork& work, const TokenOracle& oracle, std::size_t group, InFlight& entry) {
  const auto& table = sequences_.at(work.sequence).tables[group];
  const std::int32_t end = work.first_position + static_cast<std::int32_t>(work.tokens.size());
  BlockId last_checked = kNoBlock;
  for (std::int32_t p = work.first_position; p < end; ++p) {
    const BlockId block = table.at(static_cast<std::size_t>(p / config_.block_tokens));
    if (block != last_checked) check_writable(work.sequence, {group, block});
    last_checked = block;
    slot(group, block, p % config_.block_tokens) = oracle.content(p);
    entry.used[{group, block}] = work.sequence;
  }
}

// No plan in flight may use the block for another sequence, and no other sequence may see it.
void FakePipeline::check_writable(SequenceId writer, GroupBlockId block) const {
  for (const InFlight& entry : in_flight_) {
    const auto user = entry.used.find(block);
    TRIREME_CHECK(user == entry.used.end() || user->second == writer)
        << "block " << block.second << " is written by sequence " << writer << " while a plan in flight uses it for "
        << user->second;
  }
  const KvGroup& kv = config_.kv_groups[block.first];
  for (const auto& [id, sequence] : sequences_) {
    if (id == writer || sequence.next_position < 0) continue;
    const auto& table = sequence.tables[block.first];
    const auto first = first_visible_block(kv, config_.block_tokens, sequence.next_position);
    for (auto i = static_cast<std::size_t>(first); i < table.size(); ++i) {
      TRIREME_CHECK(table[i] != block.second)
          << "sequence " << writer << " writes block " << block.second << ", which " << id << " sees";
    }
  }
}

void FakePipeline::answer(const SequenceWork& work, const TokenOracle& oracle, StepResult& result) const {
  const std::int32_t end = work.first_position + static_cast<std::int32_t>(work.tokens.size());
  const bool broken = broken_.contains(work.sequence);
  if (!work.score_targets.empty()) {
    ScoredTokens& scored = result.scored.emplace_back();
    scored.sequence = work.sequence;
    scored.first_position = work.first_position + work.score_begin + 1;
    scored.non_finite = broken;
    for (std::size_t i = 0; i < work.score_targets.size(); ++i) {
      const std::int32_t row = scored.first_position - 1 + static_cast<std::int32_t>(i);
      TRIREME_CHECK(row < end && row + 1 < static_cast<std::int32_t>(oracle.request().prompt.size()));
      scored.logprobs.push_back(oracle.logprob(row, work.score_targets[i]));
    }
  }
  if (!work.sample) return;
  SampledToken& sampled = result.sampled.emplace_back();
  sampled.sequence = work.sequence;
  sampled.non_finite = broken;
  if (!broken) sampled.token = oracle.tokens().at(static_cast<std::size_t>(end));
}

}  // namespace trireme::scheduler
