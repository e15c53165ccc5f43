#include "runtime/worker/output_head.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace trireme::worker {
namespace {

// Rows of logits computed at once: enough to reuse the head's weights, few enough to bound memory.
std::int64_t tile_rows(std::int64_t vocab_size) {
  constexpr std::int64_t kTargetBytes = 32 << 20;
  const std::int64_t fitting = kTargetBytes / (vocab_size * static_cast<std::int64_t>(sizeof(float)));
  return std::clamp<std::int64_t>(fitting, 16, 64);
}

bool any_non_finite(float log_sum_exp) {
  return !std::isfinite(log_sum_exp);
}

}  // namespace

OutputHead::OutputHead(model::StageModel& model, kernels::Ops& ops) : model_(model), ops_(ops) {
  const std::int64_t vocab_size = model.description().vocab_size;
  logits_ = base::AlignedBuffer<float>(static_cast<std::size_t>(tile_rows(vocab_size) * vocab_size));
  log_sums_.resize(static_cast<std::size_t>(tile_rows(vocab_size)));
}

std::int64_t OutputHead::logits_bytes(std::int64_t vocab_size) {
  return tile_rows(vocab_size) * vocab_size * static_cast<std::int64_t>(sizeof(float));
}

std::vector<OutputHead::Wanted> OutputHead::collect(const BuiltStep& step) const {
  std::vector<Wanted> wanted;
  for (const WorkRows& rows : step.work) {
    const auto first_row = static_cast<std::int32_t>(rows.first_row);
    const scheduler::SequenceWork& work = *rows.work;
    const auto num_targets = static_cast<std::int32_t>(work.score_targets.size());
    TRIREME_CHECK(work.score_begin + num_targets <= static_cast<std::int32_t>(work.tokens.size()));
    for (std::int32_t i = 0; i < num_targets; ++i) {
      wanted.push_back({&rows, first_row + work.score_begin + i, work.score_targets[static_cast<std::size_t>(i)]});
    }
    if (work.sample) wanted.push_back({&rows, first_row + static_cast<std::int32_t>(work.tokens.size()) - 1, -1});
  }
  return wanted;
}

void OutputHead::sample_row(const Wanted& wanted, const float* logits, float log_sum_exp,
                            scheduler::StepResult& result) {
  const scheduler::SequenceAdmission& admission = wanted.rows->sequence->admission;
  sampling::SampleArgs args;
  args.logits = {logits, static_cast<std::size_t>(model_.description().vocab_size)};
  args.log_sum_exp = log_sum_exp;
  args.params = &admission.sampling;
  args.choice_index = admission.choice_index;
  args.position = wanted.rows->sequence->next_position;
  args.history = admission.history;
  args.prompt_length = admission.prompt_length;
  scheduler::SampledToken token = sampler_.sample(args);
  token.sequence = admission.sequence;
  result.sampled.push_back(std::move(token));
}

void OutputHead::score_row(const Wanted& wanted, const float* logits, float log_sum_exp,
                           scheduler::StepResult& result) {
  const scheduler::SequenceAdmission& admission = wanted.rows->sequence->admission;
  const scheduler::SequenceWork& work = *wanted.rows->work;
  if (result.scored.empty() || result.scored.back().sequence != admission.sequence) {
    result.scored.push_back({admission.sequence, work.first_position + work.score_begin + 1, {}, {}, false});
  }
  scheduler::ScoredTokens& scored = result.scored.back();
  scored.non_finite |= any_non_finite(log_sum_exp);
  scored.logprobs.push_back(logits[wanted.target] - log_sum_exp);
  if (admission.sampling.num_logprobs <= 0) return;
  const std::span<const float> row(logits, static_cast<std::size_t>(model_.description().vocab_size));
  scored.top.push_back(sampling::top_logprobs(row, log_sum_exp, admission.sampling.num_logprobs));
}

void OutputHead::run(const BuiltStep& step, const float* hidden, base::Stream stream, scheduler::StepResult& result) {
  const std::vector<Wanted> wanted = collect(step);
  const std::int64_t vocab_size = model_.description().vocab_size;
  const auto tile = static_cast<std::size_t>(tile_rows(vocab_size));
  std::vector<std::int32_t> rows;
  for (std::size_t begin = 0; begin < wanted.size(); begin += tile) {
    const std::size_t end = std::min(begin + tile, wanted.size());
    rows.clear();
    for (std::size_t i = begin; i < end; ++i) rows.push_back(wanted[i].row);
    model_.logits(hidden, rows, logits_.data(), stream);
    const auto num_rows = static_cast<std::int64_t>(end - begin);
    const bool needs_sums = std::any_of(&wanted[begin], &wanted[begin] + num_rows, [](const Wanted& w) {
      return w.target >= 0 || w.rows->sequence->admission.sampling.num_logprobs >= 0;
    });
    if (needs_sums) ops_.log_sum_exp({logits_.data(), log_sums_.data(), num_rows, vocab_size}, stream);
    for (std::size_t i = begin; i < end; ++i) {
      const float* row = logits_.data() + static_cast<std::int64_t>(i - begin) * vocab_size;
      const float log_sum = needs_sums ? log_sums_[i - begin] : 0.0f;
      if (wanted[i].target >= 0)
        score_row(wanted[i], row, log_sum, result);
      else
        sample_row(wanted[i], row, log_sum, result);
    }
  }
}

}  // namespace trireme::worker
