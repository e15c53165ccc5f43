// EncoderWeights: the weights of a whole encoder, packed for the kernels.
#pragma once

#include <memory>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/result.h"
#include "kernels/thread_pool.h"
#include "kernels/weight_format.h"
#include "runtime/encoder/encoder_description.h"
#include "runtime/model/stage_weights.h"

namespace trireme::encoder {

struct EncoderLayer {
  model::LinearWeights qkv, attention_output, up, down;
  model::NormWeights attention_norm, ffn_norm;
};

struct EncoderWeights {
  kernels::PackedMatrixView words, positions, token_types;
  model::NormWeights embedding_norm;
  std::vector<EncoderLayer> layers;
  model::LinearWeights pooler, classifier;  // where the encoder classifies

  std::vector<base::AlignedBuffer<std::byte>> matrices;  // back the views
  std::vector<std::unique_ptr<float[]>> vectors;         // norms and biases
};

// Linears are kept in `format`, embeddings in f32 where that is `format`, else in f16. Errors name file and tensor.
base::Result<std::unique_ptr<EncoderWeights>> load_encoder_weights(const checkpoint::Checkpoint& checkpoint,
                                                                   const EncoderDescription& encoder,
                                                                   kernels::WeightFormat format,
                                                                   kernels::ThreadPool& pool);

}  // namespace trireme::encoder
