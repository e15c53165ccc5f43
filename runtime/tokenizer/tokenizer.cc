#include "runtime/tokenizer/tokenizer.h"

#include <utility>

#include "base/check.h"
#include "runtime/tokenizer/loaders.h"

namespace trireme::tokenizer {

base::Result<std::unique_ptr<Tokenizer>> Tokenizer::from_checkpoint(const checkpoint::Checkpoint& checkpoint) {
  const bool is_gguf = checkpoint.format() == checkpoint::Format::kGguf;
  TRIREME_CHECK(!is_gguf || checkpoint.gguf() != nullptr);
  base::Result<TokenizerParts> parts = is_gguf ? load_gguf_tokenizer(*checkpoint.gguf())
                                               : load_hugging_face_tokenizer(checkpoint.path(), checkpoint.metadata());
  if (!parts) {
    base::Error error = parts.error();
    if (is_gguf) error.message = checkpoint.path().string() + ": " + error.message;
    return error;
  }
  return std::unique_ptr<Tokenizer>(std::make_unique<PipelineTokenizer>(std::move(*parts)));
}

}  // namespace trireme::tokenizer
