// OutputProcessor: tokens of sequences → text of requests, on the engine thread. Keeps one detokenizer per sequence and
// finds stop strings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/tokenizer/detokenizer.h"
#include "runtime/tokenizer/tokenizer.h"
#include "scheduler/request.h"
#include "scheduler/scheduler.h"

namespace trireme::engine {

// A piece of one choice's output. Pieces of a choice come in order; the last one has a finish_reason.
struct GenerationEvent {
  scheduler::RequestId request;
  std::uint32_t choice_index = 0;
  std::optional<scheduler::SampledToken> token;
  std::string text;  // that has become certain
  std::vector<float> prompt_logprobs;
  std::vector<std::vector<scheduler::TokenLogprob>> prompt_top;
  scheduler::FinishReason finish_reason = scheduler::FinishReason::kNone;
};

using OutputCallback = std::function<void(const GenerationEvent&)>;  // called on the engine thread

class OutputProcessor {
 public:
  explicit OutputProcessor(const tokenizer::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void add(scheduler::SequenceId sequence, const scheduler::Request& request, const OutputCallback& callback);
  void remove(scheduler::SequenceId sequence) { outputs_.erase(sequence); }

  // Passes the event on as text. True if a stop string has ended the sequence: its scheduler must be told.
  bool deliver(scheduler::SequenceEvent event);

 private:
  struct Output {
    tokenizer::Detokenizer detokenizer;
    OutputCallback callback;
  };
  const tokenizer::Tokenizer& tokenizer_;
  std::unordered_map<scheduler::SequenceId, Output> outputs_;
};

}  // namespace trireme::engine
