#include "runtime/calibration/next_token_loss.h"

#include <algorithm>
#include <cmath>

namespace trireme::calibration {
namespace {

constexpr std::int32_t kTileRows = 32;  // rows of logits at once

double text_loss(WholeModel& model, const Tokens& tokens) {
  const auto vocab = static_cast<std::size_t>(model.description().vocab_size);
  std::vector<float> hidden = model.embed(tokens), logits;
  model.run_layers(0, model.description().num_layers(), tokens, hidden);
  const auto num_targets = static_cast<std::int32_t>(tokens.size()) - 1;
  double loss = 0.0;
  for (std::int32_t begin = 0; begin < num_targets; begin += kTileRows) {
    const std::int32_t rows = std::min(kTileRows, num_targets - begin);
    model.logits(hidden, begin, rows, logits);
    for (std::int32_t row = 0; row < rows; ++row) {
      const std::span values = std::span(logits).subspan(static_cast<std::size_t>(row) * vocab, vocab);
      log_softmax(values);
      loss -= values[static_cast<std::size_t>(tokens[static_cast<std::size_t>(begin + row + 1)])];
    }
  }
  return loss;
}

}  // namespace

double TextLoss::perplexity() const {
  return std::exp(sum / static_cast<double>(num_tokens));
}

TextLoss next_token_loss(WholeModel& model, std::span<const Tokens> texts) {
  TextLoss loss;
  for (const Tokens& tokens : texts) {
    loss.sum += text_loss(model, tokens);
    loss.num_tokens += static_cast<std::int64_t>(tokens.size()) - 1;
  }
  return loss;
}

void log_softmax(std::span<float> logits) {
  const float peak = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float value : logits) sum += std::exp(value - peak);
  const auto log_sum = static_cast<float>(std::log(sum));
  for (float& value : logits) value = (value - peak) - log_sum;
}

double divergence(std::span<const float> expected, std::span<const float> actual) {
  double sum = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    sum += static_cast<double>(std::exp(expected[i])) * (static_cast<double>(expected[i]) - actual[i]);
  }
  return std::max(sum, 0.0);
}

}  // namespace trireme::calibration
