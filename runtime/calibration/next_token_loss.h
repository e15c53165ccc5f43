// What a model says about the next token: how surprised it is by a text, and how far its distribution is from
// another's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/calibration/whole_model.h"

namespace trireme::calibration {

// Negative log-likelihood, in nats.
struct TextLoss {
  double sum = 0.0;
  std::int64_t num_tokens = 0;

  double perplexity() const;
};

// Of every token of each text, given those before it. Each text has at least two tokens.
TextLoss next_token_loss(WholeModel& model, std::span<const Tokens> texts);

// log softmax of one row of logits, in place.
void log_softmax(std::span<float> logits);

// Kullback-Leibler divergence from `expected` to `actual`, both log-probabilities of one row: sum of
// p * (log p - log q), in nats. It is what the row's expected surprise grows by.
double divergence(std::span<const float> expected, std::span<const float> actual);

}  // namespace trireme::calibration
