#include "scheduler/byte_reader.h"
#include "scheduler/byte_writer.h"
#include "scheduler/step_plan.h"

namespace trireme::scheduler {
namespace {

constexpr std::uint32_t kResultMagic = 0x31535254;  // "TRS1"

// The least number of encoded bytes of one element.
constexpr std::size_t kMinSampledBytes = 8 + 4 + 4 + 4 + 1;
constexpr std::size_t kMinScoredBytes = 8 + 4 + 4 + 4 + 1;
constexpr std::size_t kMinTopBytes = 4;

void put(ByteWriter& out, const SampledToken& sampled) {
  out.put(sampled.sequence);
  out.put(sampled.token);
  out.put(sampled.logprob);
  out.put_vector(sampled.top);
  out.put_bool(sampled.non_finite);
}

SampledToken get_sampled(ByteReader& in) {
  SampledToken sampled;
  sampled.sequence = in.get<SequenceId>();
  sampled.token = in.get<TokenId>();
  sampled.logprob = in.get<float>();
  sampled.top = in.get_vector<TokenLogprob>();
  sampled.non_finite = in.get_bool();
  return sampled;
}

void put(ByteWriter& out, const ScoredTokens& scored) {
  out.put(scored.sequence);
  out.put(scored.first_position);
  out.put_vector(scored.logprobs);
  out.put_count(scored.top.size());
  for (const auto& top : scored.top) out.put_vector(top);
  out.put_bool(scored.non_finite);
}

ScoredTokens get_scored(ByteReader& in) {
  ScoredTokens scored;
  scored.sequence = in.get<SequenceId>();
  scored.first_position = in.get<std::int32_t>();
  scored.logprobs = in.get_vector<float>();
  scored.top.resize(in.get_count(kMinTopBytes));
  for (auto& top : scored.top) top = in.get_vector<TokenLogprob>();
  scored.non_finite = in.get_bool();
  return scored;
}

}  // namespace

std::vector<std::byte> encode(const StepResult& result) {
  ByteWriter out;
  out.put(kResultMagic);
  out.put(result.epoch);
  out.put(result.replica);
  out.put(result.step);
  out.put_count(result.sampled.size());
  for (const SampledToken& sampled : result.sampled) put(out, sampled);
  out.put_count(result.scored.size());
  for (const ScoredTokens& scored : result.scored) put(out, scored);
  out.put(result.timing);
  return out.take();
}

base::Result<StepResult> decode_step_result(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.get<std::uint32_t>() != kResultMagic)
    return base::invalid_argument("step result: not a result of this version");
  StepResult result;
  result.epoch = in.get<std::uint32_t>();
  result.replica = in.get<std::uint32_t>();
  result.step = in.get<StepNumber>();
  result.sampled.resize(in.get_count(kMinSampledBytes));
  for (SampledToken& sampled : result.sampled) sampled = get_sampled(in);
  result.scored.resize(in.get_count(kMinScoredBytes));
  for (ScoredTokens& scored : result.scored) scored = get_scored(in);
  result.timing = in.get<StageTiming>();
  if (!in.at_end()) {
    return base::invalid_argument("step result: " + std::to_string(bytes.size()) +
                                  " bytes that are cut, too long or malformed");
  }
  return result;
}

}  // namespace trireme::scheduler
