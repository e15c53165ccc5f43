// TextEncoder: texts in, embeddings or label probabilities out: an encoder with its tokenizer and threads.
// EncoderService lets any thread ask one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/cpu_ops.h"
#include "kernels/thread_pool.h"
#include "kernels/weight_format.h"
#include "runtime/encoder/encoder_model.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::encoder {

struct TextEncoderOptions {
  kernels::WeightFormat weights = kernels::WeightFormat::kF16;
  std::int32_t num_threads = 1;
  bool reference = false;  // compute with the scalar reference
};

struct LabelScores {
  std::vector<float> logits, probabilities;  // by label
  std::size_t best = 0;                      // index of the most likely label
};

class TextEncoder {
 public:
  static base::Result<std::unique_ptr<TextEncoder>> open(const std::filesystem::path& path,
                                                         const TextEncoderOptions& options);

  const EncoderDescription& description() const { return model_->description(); }

  // One thread at a time. A text that is too long loses what is before its last token (the separator) and beyond the
  // limit. Errors: a text that is not UTF-8 (named by its index), or for scores no classification head.
  base::Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts);
  base::Result<std::vector<LabelScores>> classify(std::span<const std::string> texts);

  // The same of token ids as they are. Error: an id outside the vocabulary, or a number of them that does not fit.
  base::Result<std::vector<std::vector<float>>> embed_ids(std::span<const EncoderModel::TokenIds> texts);
  base::Result<std::vector<LabelScores>> classify_ids(std::span<const EncoderModel::TokenIds> texts);

 private:
  explicit TextEncoder(const TextEncoderOptions& options);
  base::Result<std::vector<EncoderModel::TokenIds>> tokens(std::span<const std::string> texts) const;
  base::Status check(std::span<const EncoderModel::TokenIds> texts) const;
  LabelScores scores(std::vector<float> logits) const;

  // Destroyed in the reverse order.
  kernels::ThreadPool pool_;
  std::unique_ptr<kernels::Ops> ops_;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<EncoderModel> model_;
};

}  // namespace trireme::encoder
