#include "runtime/encoder/text_encoder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trireme::encoder {

using TokenIds = EncoderModel::TokenIds;

TextEncoder::TextEncoder(const TextEncoderOptions& options) : pool_(options.num_threads) {
  const auto available = kernels::available_instruction_sets();
  ops_ = options.reference || available.empty() ? kernels::make_reference_ops()
                                                : kernels::make_cpu_ops(available.back(), pool_);
}

base::Result<std::unique_ptr<TextEncoder>> TextEncoder::open(const std::filesystem::path& path,
                                                             const TextEncoderOptions& options) {
  auto checkpoint = checkpoint::Checkpoint::open(path);
  if (!checkpoint) return checkpoint.error();
  auto description = describe_encoder(**checkpoint);
  if (!description) return description.error();
  auto tokenizer = tokenizer::Tokenizer::from_checkpoint(**checkpoint);
  if (!tokenizer) return tokenizer.error();
  std::unique_ptr<TextEncoder> encoder(new TextEncoder(options));
  auto weights = load_encoder_weights(**checkpoint, *description, options.weights, encoder->pool_);
  if (!weights) return weights.error();
  encoder->tokenizer_ = std::move(*tokenizer);
  encoder->model_ = std::make_unique<EncoderModel>(std::move(*description), std::move(*weights), *encoder->ops_);
  return encoder;
}

base::Result<std::vector<TokenIds>> TextEncoder::tokens(std::span<const std::string> texts) const {
  const auto limit = static_cast<std::size_t>(description().max_positions);
  std::vector<TokenIds> all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto ids = tokenizer_->encode(texts[i], {.special = tokenizer::SpecialTokens::kAsText});
    if (!ids) return base::invalid_argument("text " + std::to_string(i) + ": " + ids.error().message);
    if (ids->size() > limit) ids->erase(ids->begin() + static_cast<std::ptrdiff_t>(limit) - 1, ids->end() - 1);
    all.push_back(std::move(*ids));
  }
  return all;
}

base::Status TextEncoder::check(std::span<const TokenIds> texts) const {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string where = "text " + std::to_string(i) + ": ";
    if (texts[i].empty()) return base::invalid_argument(where + "has no token");
    if (texts[i].size() > static_cast<std::size_t>(description().max_positions)) {
      return base::invalid_argument(where + std::to_string(texts[i].size()) + " tokens, at most " +
                                    std::to_string(description().max_positions) + " are possible");
    }
    for (const std::int32_t id : texts[i]) {
      if (id >= 0 && id < description().vocab_size) continue;
      return base::invalid_argument(where + "token " + std::to_string(id) + " is none of the vocabulary");
    }
  }
  return base::ok_status();
}

LabelScores TextEncoder::scores(std::vector<float> logits) const {
  LabelScores result;
  const double maximum = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(logit - maximum);
  for (const float logit : logits) {
    const double exclusive = std::exp(logit - maximum) / sum, alone = 1.0 / (1.0 + std::exp(-double{logit}));
    result.probabilities.push_back(static_cast<float>(description().labels_are_exclusive ? exclusive : alone));
  }
  result.best = static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  result.logits = std::move(logits);
  return result;
}

base::Result<std::vector<std::vector<float>>> TextEncoder::embed_ids(std::span<const TokenIds> texts) {
  if (auto status = check(texts); !status) return status.error();
  return model_->embed(texts);
}

base::Result<std::vector<LabelScores>> TextEncoder::classify_ids(std::span<const TokenIds> texts) {
  if (!description().classifies()) return base::unsupported("this encoder has no classification head");
  if (auto status = check(texts); !status) return status.error();
  std::vector<LabelScores> results;
  for (std::vector<float>& logits : model_->classify(texts)) results.push_back(scores(std::move(logits)));
  return results;
}

base::Result<std::vector<std::vector<float>>> TextEncoder::embed(std::span<const std::string> texts) {
  const auto ids = tokens(texts);
  if (!ids) return ids.error();
  return embed_ids(*ids);
}

base::Result<std::vector<LabelScores>> TextEncoder::classify(std::span<const std::string> texts) {
  const auto ids = tokens(texts);
  if (!ids) return ids.error();
  return classify_ids(*ids);
}

}  // namespace trireme::encoder
