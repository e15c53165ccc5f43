#include "scheduler/step_plan.h"

#include "scheduler/byte_reader.h"
#include "scheduler/byte_writer.h"

namespace trireme::scheduler {
namespace {

constexpr std::uint32_t kPlanMagic = 0x324c5054;  // "TPL2"

// The least number of encoded bytes of one element.
constexpr std::size_t kMinAdmissionBytes = 8 + 4 + 4 + 4 + 6 * 4 + 4 + 4 + 8 + 4 + 4;
constexpr std::size_t kMinAppendBytes = 8 + 4 + 4;
constexpr std::size_t kMinWorkBytes = 8 + 4 + 4 + 1 + 4 + 4;

void put(ByteWriter& out, const SamplingParams& params) {
  out.put(params.temperature);
  out.put(params.top_k);
  out.put(params.top_p);
  out.put(params.min_p);
  out.put(params.repetition_penalty);
  out.put(params.presence_penalty);
  out.put(params.frequency_penalty);
  out.put_count(params.logit_bias.size());
  for (const auto& [token, bias] : params.logit_bias) {
    out.put(token);
    out.put(bias);
  }
  out.put(params.seed);
  out.put(params.num_logprobs);
}

SamplingParams get_sampling_params(ByteReader& in) {
  SamplingParams params;
  params.temperature = in.get<float>();
  params.top_k = in.get<std::int32_t>();
  params.top_p = in.get<float>();
  params.min_p = in.get<float>();
  params.repetition_penalty = in.get<float>();
  params.presence_penalty = in.get<float>();
  params.frequency_penalty = in.get<float>();
  params.logit_bias.resize(in.get_count(sizeof(TokenId) + sizeof(float)));
  for (auto& [token, bias] : params.logit_bias) {
    token = in.get<TokenId>();
    bias = in.get<float>();
  }
  params.seed = in.get<std::uint64_t>();
  params.num_logprobs = in.get<std::int32_t>();
  return params;
}

void put(ByteWriter& out, const SequenceAdmission& admission) {
  out.put(admission.sequence);
  out.put(admission.choice_index);
  out.put(admission.prompt_length);
  out.put(admission.adapter);
  put(out, admission.sampling);
  out.put_vector(admission.history);
}

SequenceAdmission get_admission(ByteReader& in) {
  SequenceAdmission admission;
  admission.sequence = in.get<SequenceId>();
  admission.choice_index = in.get<std::uint32_t>();
  admission.prompt_length = in.get<std::int32_t>();
  admission.adapter = in.get<std::uint32_t>();
  admission.sampling = get_sampling_params(in);
  admission.history = in.get_vector<TokenId>();
  return admission;
}

void put(ByteWriter& out, const SequenceWork& work) {
  out.put(work.sequence);
  out.put(work.first_position);
  out.put_vector(work.tokens);
  out.put_bool(work.sample);
  out.put(work.score_begin);
  out.put_vector(work.score_targets);
}

SequenceWork get_work(ByteReader& in) {
  SequenceWork work;
  work.sequence = in.get<SequenceId>();
  work.first_position = in.get<std::int32_t>();
  work.tokens = in.get_vector<TokenId>();
  work.sample = in.get_bool();
  work.score_begin = in.get<std::int32_t>();
  work.score_targets = in.get_vector<TokenId>();
  const auto score_end =
      static_cast<std::int64_t>(work.score_begin) + static_cast<std::int64_t>(work.score_targets.size());
  const bool valid = !work.tokens.empty() && work.first_position >= 0 && work.score_begin >= 0 &&
                     score_end <= static_cast<std::int64_t>(work.tokens.size());
  if (!valid) in.fail();
  return work;
}

BlockAppend get_append(ByteReader& in) {
  BlockAppend append;
  append.sequence = in.get<SequenceId>();
  append.group = in.get<std::uint32_t>();
  append.blocks = in.get_vector<BlockId>();
  return append;
}

}  // namespace

std::int64_t StepPlan::num_rows() const {
  std::int64_t rows = 0;
  for (const SequenceWork& item : work) rows += static_cast<std::int64_t>(item.tokens.size());
  return rows;
}

std::vector<std::byte> encode(const StepPlan& plan) {
  ByteWriter out;
  out.put(kPlanMagic);
  out.put(plan.epoch);
  out.put(plan.replica);
  out.put(plan.step);
  out.put_bool(plan.shutdown);
  out.put_vector(plan.released);
  out.put_count(plan.admitted.size());
  for (const SequenceAdmission& admission : plan.admitted) put(out, admission);
  out.put_count(plan.appended.size());
  for (const BlockAppend& append : plan.appended) {
    out.put(append.sequence);
    out.put(append.group);
    out.put_vector(append.blocks);
  }
  out.put_vector(plan.copies);
  out.put_count(plan.work.size());
  for (const SequenceWork& work : plan.work) put(out, work);
  return out.take();
}

base::Result<StepPlan> decode_step_plan(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.get<std::uint32_t>() != kPlanMagic) return base::invalid_argument("step plan: not a plan of this version");
  StepPlan plan;
  plan.epoch = in.get<std::uint32_t>();
  plan.replica = in.get<std::uint32_t>();
  plan.step = in.get<StepNumber>();
  plan.shutdown = in.get_bool();
  plan.released = in.get_vector<SequenceId>();
  plan.admitted.resize(in.get_count(kMinAdmissionBytes));
  for (SequenceAdmission& admission : plan.admitted) admission = get_admission(in);
  plan.appended.resize(in.get_count(kMinAppendBytes));
  for (BlockAppend& append : plan.appended) append = get_append(in);
  plan.copies = in.get_vector<BlockCopy>();
  plan.work.resize(in.get_count(kMinWorkBytes));
  for (SequenceWork& work : plan.work) work = get_work(in);
  if (!in.at_end()) {
    return base::invalid_argument("step plan: " + std::to_string(bytes.size()) +
                                  " bytes that are cut, too long or malformed");
  }
  return plan;
}

}  // namespace trireme::scheduler
