#include "runtime/calibration/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/aligned_buffer.h"
#include "runtime/calibration/linear_probe.h"
#include "runtime/calibration/next_token_loss.h"
#include "runtime/model/matrix_source.h"

namespace trireme::calibration {
namespace {

using kernels::WeightFormat;

constexpr std::size_t kDivergenceSamples = 4;

struct ModelMatrix {
  model::MatrixSource source;
  const std::byte* data = nullptr;  // of the float32 model
  ModelPart part = ModelPart::kAttention;
};

std::vector<ModelMatrix> layer_matrices(const model::ModelDescription& description, const model::StageWeights& weights,
                                        std::int32_t index) {
  const model::LayerWeights& layer = weights.layers[static_cast<std::size_t>(index)];
  std::vector<ModelMatrix> matrices = {
      {model::qkv_source(description, index), layer.qkv.matrix.data, ModelPart::kAttention},
      {model::attention_output_source(description, index), layer.attention_output.matrix.data, ModelPart::kAttention}};
  if (!description.layers[static_cast<std::size_t>(index)].experts) {
    matrices.push_back({model::gate_up_source(description, index), layer.gate_up.matrix.data, ModelPart::kFeedForward});
    matrices.push_back({model::down_source(description, index), layer.down.matrix.data, ModelPart::kFeedForward});
    return matrices;
  }
  for (std::int32_t expert = 0; expert < description.experts.num_experts; ++expert) {
    const auto place = static_cast<std::size_t>(expert);
    matrices.push_back({model::expert_gate_up_source(description, index, expert), layer.experts.gate_up[place].data,
                        ModelPart::kFeedForward});
    matrices.push_back({model::expert_down_source(description, index, expert), layer.experts.down[place].data,
                        ModelPart::kFeedForward});
  }
  return matrices;
}

struct Packed {
  kernels::PackedMatrixShape shape;
  base::AlignedBuffer<std::byte> data;

  kernels::PackedMatrixView view() const { return {shape, data.data()}; }
};

// A matrix under examination: its two formats, and sums over what it has met so far.
class Candidate {
 public:
  static base::Result<Candidate> make(const SensitivityTask& task, const ModelMatrix& matrix, std::int32_t layer) {
    Candidate candidate;
    candidate.original_ = matrix.data;
    MatrixSensitivity& result = candidate.result_;
    result.matrix = matrix.source.name;
    result.part = matrix.part;
    result.layer = layer;
    result.format = task.choose(matrix.source);
    result.finer = finer_format(result.format);
    for (auto [format, packed] :
         {std::pair{result.format, &candidate.coarse_}, std::pair{result.finer, &candidate.fine_}}) {
      packed->shape = model::packed_shape(matrix.source, format);
      packed->data = base::AlignedBuffer<std::byte>(packed->shape.bytes());
      const auto status =
          model::pack_source(task.checkpoint, matrix.source, format, packed->data.data(), task.machine.pool);
      if (!status) return status.error();
    }
    result.bytes = static_cast<std::int64_t>(candidate.coarse_.shape.bytes());
    result.finer_bytes = static_cast<std::int64_t>(candidate.fine_.shape.bytes());
    return candidate;
  }

  const std::byte* original() const { return original_; }
  kernels::PackedMatrixView coarse() const { return coarse_.view(); }
  void set_divergence(double value) { result_.divergence = value; }

  // Multiplies the same rows in float32 and in both formats.
  void meet(const kernels::LinearArgs& args, kernels::Ops& ops) {
    for (std::int64_t row = 0; row < args.num_rows; ++row) {
      for (std::int64_t i = 0; i < args.weights.shape.in_features; ++i) {
        const double value = args.input[row * args.input_stride + i];
        input_square_ += value * value;
        result_.input_peak = std::max(result_.input_peak, std::abs(value));
      }
    }
    inputs_ += static_cast<double>(args.num_rows * args.weights.shape.in_features);
    const std::vector<float> exact = multiply(args, args.weights, ops);
    for (const float value : exact) exact_square_ += double{value} * value;
    error_square_ += squared_distance(multiply(args, coarse_.view(), ops), exact);
    fine_error_square_ += squared_distance(multiply(args, fine_.view(), ops), exact);
  }

  MatrixSensitivity result() const {
    MatrixSensitivity result = result_;
    if (inputs_ > 0.0) result.input_rms = std::sqrt(input_square_ / inputs_);
    if (exact_square_ > 0.0) {
      result.error = std::sqrt(error_square_ / exact_square_);
      result.finer_error = std::sqrt(fine_error_square_ / exact_square_);
    }
    return result;
  }

 private:
  static std::vector<float> multiply(kernels::LinearArgs args, const kernels::PackedMatrixView& weights,
                                     kernels::Ops& ops) {
    std::vector<float> output(static_cast<std::size_t>(args.num_rows * weights.shape.out_features));
    args.weights = weights;
    args.bias = nullptr;
    args.output = output.data();
    args.output_stride = weights.shape.out_features;
    args.mode = kernels::OutputMode::kOverwrite;
    ops.linear(args, {});
    return output;
  }
  static double squared_distance(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    return sum;
  }

  const std::byte* original_ = nullptr;
  Packed coarse_, fine_;
  MatrixSensitivity result_;
  double inputs_ = 0.0, input_square_ = 0.0;
  double exact_square_ = 0.0, error_square_ = 0.0, fine_error_square_ = 0.0;
};

class Measurement {
 public:
  Measurement(const SensitivityTask& task, const SensitivityObserver& observe)
      : task_(task), observe_(observe), probe_(task.machine.ops) {}

  base::Result<std::vector<MatrixSensitivity>> run() {
    if (auto status = load(); !status) return status.error();
    begin();
    const std::int32_t num_layers = task_.description.num_layers();
    for (std::int32_t layer = 0; layer < num_layers; ++layer) {
      if (auto status = examine_layer(layer); !status) return status.error();
      if (!observe_((layer + 1.0) / (num_layers + 1.0))) return base::invalid_argument("stopped");
    }
    if (auto status = examine_head(); !status) return status.error();
    observe_(1.0);
    return results_;
  }

 private:
  base::Status load() {
    std::size_t longest = 0;
    for (const Tokens& sample : task_.samples) longest = std::max(longest, sample.size());
    const model::FormatChooser exact = [](const model::MatrixSource&) { return WeightFormat::kF32; };
    auto loaded = WholeModel::load(task_.checkpoint, task_.description, exact, {probe_, task_.machine.pool},
                                   static_cast<std::int32_t>(longest));
    if (!loaded) return loaded.error();
    model_ = std::move(*loaded);
    return base::ok_status();
  }

  // Spread evenly over all samples.
  std::size_t num_divergence_samples() const { return std::min(kDivergenceSamples, task_.samples.size()); }
  std::size_t divergence_sample(std::size_t i) const { return i * task_.samples.size() / num_divergence_samples(); }

  // Hidden states of all samples before the first layer, and what the float32 model says to a few.
  void begin() {
    for (const Tokens& sample : task_.samples) hidden_.push_back(model_->embed(sample));
    for (std::size_t i = 0; i < num_divergence_samples(); ++i) {
      const std::size_t sample = divergence_sample(i);
      std::vector<float> hidden = hidden_[sample];
      model_->run_layers(0, task_.description.num_layers(), task_.samples[sample], hidden);
      expected_.push_back(log_probabilities(hidden, task_.samples[sample]));
    }
  }

  // Of the second half of a text's positions, which have something before them.
  std::vector<float> log_probabilities(const std::vector<float>& hidden, const Tokens& tokens) {
    const auto size = static_cast<std::int32_t>(tokens.size()), first = size / 2;
    std::vector<float> values;
    model_->logits(hidden, first, size - first, values);
    const auto vocab = static_cast<std::size_t>(task_.description.vocab_size);
    const auto num_rows = static_cast<std::int64_t>(values.size() / vocab);
    task_.machine.pool.parallel_for(num_rows, [&](std::int64_t row) {
      log_softmax(std::span(values).subspan(static_cast<std::size_t>(row) * vocab, vocab));
    });
    return values;
  }

  // With the matrix in its format from layer `begin` on; `hidden` are the samples' states before that layer.
  double divergence_with(const Candidate& candidate, std::int32_t begin) {
    probe_.substitute(candidate.original(), candidate.coarse());
    const auto vocab = static_cast<std::size_t>(task_.description.vocab_size);
    std::vector<double> rows;
    for (std::size_t i = 0; i < num_divergence_samples(); ++i) {
      const std::size_t sample = divergence_sample(i);
      std::vector<float> hidden = hidden_[sample];
      model_->run_layers(begin, task_.description.num_layers(), task_.samples[sample], hidden);
      const std::vector<float> actual = log_probabilities(hidden, task_.samples[sample]);
      const std::size_t first = rows.size();
      rows.resize(first + actual.size() / vocab);
      task_.machine.pool.parallel_for(static_cast<std::int64_t>(rows.size() - first), [&](std::int64_t row) {
        const std::size_t at = static_cast<std::size_t>(row) * vocab;
        rows[first + static_cast<std::size_t>(row)] =
            divergence(std::span(expected_[i]).subspan(at, vocab), std::span(actual).subspan(at, vocab));
      });
    }
    probe_.clear_substitute();
    return std::accumulate(rows.begin(), rows.end(), 0.0) / static_cast<double>(rows.size());
  }

  base::Result<std::vector<Candidate>> make_candidates(const std::vector<ModelMatrix>& matrices, std::int32_t layer) {
    std::vector<Candidate> candidates;
    for (const ModelMatrix& matrix : matrices) {
      if (!is_quantised(task_.choose(matrix.source))) continue;
      auto candidate = Candidate::make(task_, matrix, layer);
      if (!candidate) return candidate.error();
      candidates.push_back(std::move(*candidate));
    }
    return candidates;
  }

  void observe_linears(std::vector<Candidate>& candidates) {
    probe_.observe([&](const kernels::LinearArgs& args) {
      for (Candidate& candidate : candidates) {
        if (candidate.original() == args.weights.data) candidate.meet(args, task_.machine.ops);
      }
    });
  }

  base::Status examine_layer(std::int32_t layer) {
    auto candidates = make_candidates(layer_matrices(task_.description, model_->weights(), layer), layer);
    if (!candidates) return candidates.error();
    for (Candidate& candidate : *candidates) candidate.set_divergence(divergence_with(candidate, layer));
    observe_linears(*candidates);
    for (std::size_t i = 0; i < task_.samples.size(); ++i) {
      model_->run_layers(layer, layer + 1, task_.samples[i], hidden_[i]);
    }
    probe_.observe(nullptr);
    for (const Candidate& candidate : *candidates) results_.push_back(candidate.result());
    return base::ok_status();
  }

  base::Status examine_head() {
    const ModelMatrix head{model::head_source(task_.description), model_->weights().head.matrix.data, ModelPart::kHead};
    auto candidates = make_candidates({head}, -1);
    if (!candidates) return candidates.error();
    for (Candidate& candidate : *candidates) {
      candidate.set_divergence(divergence_with(candidate, task_.description.num_layers()));
    }
    observe_linears(*candidates);
    for (std::size_t i = 0; i < num_divergence_samples(); ++i) {
      const std::size_t sample = divergence_sample(i);
      log_probabilities(hidden_[sample], task_.samples[sample]);
    }
    probe_.observe(nullptr);
    for (const Candidate& candidate : *candidates) results_.push_back(candidate.result());
    return base::ok_status();
  }

  const SensitivityTask& task_;
  const SensitivityObserver& observe_;
  LinearProbe probe_;
  std::unique_ptr<WholeModel> model_;
  std::vector<std::vector<float>> hidden_;    // of each sample, before the layer under examination
  std::vector<std::vector<float>> expected_;  // log-probabilities of the float32 model
  std::vector<MatrixSensitivity> results_;
};

}  // namespace

std::string_view to_string(ModelPart part) {
  switch (part) {
    case ModelPart::kAttention: return "attention";
    case ModelPart::kFeedForward: return "feed_forward";
    case ModelPart::kHead: return "head";
  }
  return "?";
}

double MatrixSensitivity::finer_divergence() const {
  if (error <= 0.0) return divergence;
  const double ratio = std::min(finer_error / error, 1.0);
  return divergence * ratio * ratio;
}

WeightFormat finer_format(WeightFormat format) {
  if (format == WeightFormat::kQ8_0) return WeightFormat::kF16;
  return is_quantised(format) ? WeightFormat::kQ8_0 : format;
}

base::Result<std::vector<MatrixSensitivity>> measure_sensitivity(const SensitivityTask& task,
                                                                 const SensitivityObserver& observe) {
  return Measurement(task, observe).run();
}

}  // namespace trireme::calibration
