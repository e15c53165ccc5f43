#include "runtime/engine/output_processor.h"

#include "base/check.h"

namespace trireme::engine {

using scheduler::FinishReason;

void OutputProcessor::add(scheduler::SequenceId sequence, const scheduler::Request& request,
                          const OutputCallback& callback) {
  Output output{tokenizer::Detokenizer(tokenizer_, request.stop), callback};
  TRIREME_CHECK(outputs_.emplace(sequence, std::move(output)).second) << sequence;
}

bool OutputProcessor::deliver(scheduler::SequenceEvent event) {
  const auto found = outputs_.find(event.sequence);
  if (found == outputs_.end()) return false;
  tokenizer::Detokenizer& detokenizer = found->second.detokenizer;

  GenerationEvent output;
  output.request = event.request;
  output.choice_index = event.choice_index;
  output.prompt_logprobs = std::move(event.prompt_logprobs);
  output.prompt_top = std::move(event.prompt_top);
  output.finish_reason = event.finish_reason;
  // A stop token ends the text before it; ids beyond the tokenizer's (padding rows of the embedding) have no text.
  const bool has_text = event.token && !event.token->non_finite && event.finish_reason != FinishReason::kStop &&
                        event.token->token < tokenizer_.vocab_size();
  if (has_text) output.text = detokenizer.push(event.token->token);
  output.token = std::move(event.token);

  const bool stopped = detokenizer.stopped();
  if (stopped)
    output.finish_reason = FinishReason::kStop;
  else if (event.finish_reason != FinishReason::kNone)
    output.text += detokenizer.finish();

  const OutputCallback callback = found->second.callback;
  if (output.finish_reason != FinishReason::kNone) outputs_.erase(found);
  callback(output);
  return stopped && event.finish_reason == FinishReason::kNone;
}

}  // namespace trireme::engine
