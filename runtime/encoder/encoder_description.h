// EncoderDescription: what a BERT (Devlin et al. 2019) is made of, as data. With x its input, a layer computes
//     a = norm(x + attention(x)),  y = norm(a + down(activation(up(a))))
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/ops.h"
#include "runtime/checkpoint/checkpoint.h"

namespace trireme::encoder {

struct EncoderDescription {
  std::int32_t vocab_size = 0;
  std::int32_t num_token_types = 0;
  std::int32_t max_positions = 0;
  std::int32_t hidden_size = 0;
  std::int32_t intermediate_size = 0;
  std::int32_t num_heads = 0;
  std::int32_t num_layers = 0;
  float norm_epsilon = 1e-12f;
  kernels::Activation activation = kernels::Activation::kGeluErf;
  std::string prefix;                // of the tensors' names: "bert." where there is a head, else empty
  std::vector<std::string> labels;   // of the classification head, by index; empty: there is none
  bool labels_are_exclusive = true;  // probabilities by softmax over the labels, else a sigmoid of each

  std::int32_t head_dim() const { return hidden_size / num_heads; }
  bool classifies() const { return !labels.empty(); }
};

// Whether the checkpoint is an encoder's at all.
bool is_encoder(const checkpoint::Checkpoint& checkpoint);

// Errors: another architecture, missing or impossible settings.
base::Result<EncoderDescription> describe_encoder(const checkpoint::Checkpoint& checkpoint);

}  // namespace trireme::encoder
