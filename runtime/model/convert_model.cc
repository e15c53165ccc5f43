#include "runtime/model/convert_model.h"

#include <map>
#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "runtime/checkpoint/gguf_file.h"
#include "runtime/checkpoint/hdf5/file_index.h"
#include "runtime/checkpoint/side_files.h"
#include "runtime/model/matrix_source.h"
#include "runtime/model/stage_sources.h"

namespace trireme::model {
namespace {

// Every matrix of the model once.
std::vector<MatrixSource> all_sources(const ModelDescription& model) {
  return stage_sources(model, {0, model.num_layers(), true, true});
}

// Where the vectors of each layer go: next to its matrices.
std::map<std::string, std::string> vector_groups(const ModelDescription& model) {
  const TensorNames& names = model.names;
  std::map<std::string, std::string> groups;
  for (std::int32_t layer = 0; layer < model.num_layers(); ++layer) {
    const std::string group = "layers/" + std::to_string(layer);
    for (const std::string* pattern : {&names.attention_norm, &names.q_norm, &names.k_norm, &names.post_attention_norm,
                                       &names.ffn_norm, &names.post_ffn_norm}) {
      if (pattern->empty()) continue;
      const std::string tensor = layer_tensor(*pattern, layer);
      groups[tensor] = groups[bias_name(tensor)] = group;
    }
    for (const MatrixSource& source : stage_sources(model, {layer, layer + 1, false, false})) {
      for (const MatrixPart& part : source.parts) groups[bias_name(part.tensor)] = group;
    }
  }
  return groups;
}

class Converter {
 public:
  Converter(const checkpoint::Checkpoint& checkpoint, const ModelDescription& model, checkpoint::Hdf5Writer& writer)
      : checkpoint_(checkpoint), model_(model), writer_(writer) {}

  base::Status add_matrices(const FormatChooser& choose, kernels::ThreadPool& pool, const ConvertObserver& observe) {
    ConvertProgress progress;
    const std::vector<MatrixSource> sources = all_sources(model_);
    for (const MatrixSource& source : sources) {
      if (auto status = check_source(checkpoint_, source); !status) return status;
      progress.total_bytes += static_cast<std::int64_t>(packed_shape(source, choose(source)).bytes());
    }
    for (const MatrixSource& source : sources) {
      const kernels::PackedMatrixShape shape = packed_shape(source, choose(source));
      base::AlignedBuffer<std::byte> packed(shape.bytes());
      if (auto status = pack_source(checkpoint_, source, shape.format, packed.data(), pool); !status) return status;
      std::vector<std::string> tensors;
      for (const MatrixPart& part : source.parts) tensors.push_back(part.tensor);
      writer_.add_matrix({source.name, shape, std::move(tensors), packed.span(), 0});
      progress.matrix = source.name;
      progress.done_bytes += static_cast<std::int64_t>(shape.bytes());
      if (!observe(progress)) return base::invalid_argument("stopped");
    }
    return base::ok_status();
  }

  // Vectors as they are: norms, biases, factors of the rotary embedding. What has more dimensions is in the matrices,
  // or is not needed; of it, settings depend on name and shape alone.
  void add_tensors() {
    const std::map<std::string, std::string> groups = vector_groups(model_);
    for (const checkpoint::TensorInfo& tensor : checkpoint_.tensors()) {
      const bool is_vector = tensor.shape.size() <= 1 && tensor.bytes > 0;
      if (!is_vector || !checkpoint::Checkpoint::check_readable(tensor)) {
        writer_.mention_tensor(tensor);
        continue;
      }
      const auto group = groups.find(tensor.name);
      writer_.add_tensor(group == groups.end() ? "tensors" : group->second, tensor);
    }
  }

  base::Status add_source() {
    if (checkpoint_.gguf() != nullptr) {
      writer_.add_file(std::string(checkpoint::kGgufHeaderName), checkpoint_.gguf()->file_header().bytes);
      return base::ok_status();
    }
    for (const std::string_view name : checkpoint::kSideFileNames) {
      const auto text = checkpoint_.side_files()->read(name);
      if (!text && text.error().code == base::ErrorCode::kNotFound) continue;
      if (!text) return text.error();
      writer_.add_file(std::string(name), std::as_bytes(std::span(*text)));
    }
    return base::ok_status();
  }

 private:
  const checkpoint::Checkpoint& checkpoint_;
  const ModelDescription& model_;
  checkpoint::Hdf5Writer& writer_;
};

}  // namespace

std::string source_name(const checkpoint::Checkpoint& checkpoint) {
  const std::filesystem::path path = checkpoint.path().lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

base::Status convert_model(const checkpoint::Checkpoint& checkpoint, const ModelDescription& model,
                           const FormatChooser& choose, kernels::ThreadPool& pool, checkpoint::Hdf5Writer& writer,
                           const ConvertObserver& observe) {
  Converter converter(checkpoint, model, writer);
  if (auto status = converter.add_source(); !status) return status;
  converter.add_tensors();
  if (auto status = converter.add_matrices(choose, pool, observe); !status) return status;
  writer.finish();
  return base::ok_status();
}

}  // namespace trireme::model
