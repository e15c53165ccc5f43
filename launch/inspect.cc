// trireme inspect: what a model is made of, and how ranks would share it; of any other file, what it is. Reads headers
// only; rank 0 alone works.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launch/commands.h"
#include "launch/convert/conversion_text.h"
#include "launch/exit_codes.h"
#include "launch/inspect_file.h"
#include "launch/log.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/device/host_memory.h"
#include "runtime/encoder/encoder_description.h"
#include "runtime/engine/rank_plan.h"
#include "runtime/model/adapter_description.h"
#include "runtime/model/architecture.h"

namespace trireme::launch {
namespace {

struct InspectOptions {
  std::string path;
  int ranks = 0;
  bool tensors = false;
};

constexpr int kMaxRanks = 65536;

std::string mebibytes(std::int64_t bytes) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text.data();
}

std::string shape_text(const checkpoint::TensorInfo& tensor) {
  std::string text;
  for (const std::int64_t size : tensor.shape) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text.empty() ? "[]" : text + "]";
}

std::string positions_text(const model::ModelDescription& model) {
  std::string text = model.names.positions.empty() ? "" : "learned";
  for (const model::RopeSpec& rope : model.ropes) {
    text += (text.empty() ? "rotary in " : " and ") + std::to_string(rope.rotary_dim) + " of " +
            std::to_string(model.head_dim) + " elements";
  }
  return text;
}

void print_description(const model::ModelDescription& model) {
  std::cout << "architecture  " << model.architecture << "\n"
            << "layers        " << model.num_layers() << "\n"
            << "hidden size   " << model.hidden_size << ", feed-forward " << model.intermediate_size
            << (model.gated ? "" : " without a gate") << "\n"
            << "attention     " << model.num_heads << " heads, " << model.num_kv_heads << " KV heads, head_dim "
            << model.head_dim << (model.attention_softcap > 0 ? ", soft-capped scores" : "")
            << (model.parallel_residual ? ", beside the feed-forward half" : "") << "\n"
            << "positions     " << positions_text(model) << "\n"
            << "vocabulary    " << model.vocab_size << (model.tied_head ? ", head tied to the embedding" : "") << "\n"
            << "context       " << model.max_positions << " tokens\n";
  const auto expert_layers = std::count_if(model.layers.begin(), model.layers.end(),
                                           [](const model::LayerSpec& layer) { return layer.experts; });
  if (expert_layers > 0) {
    std::cout << "experts       " << model.experts.num_experts << " of size " << model.experts.intermediate_size
              << " in " << expert_layers << " layers, " << model.experts.num_chosen << " for each token\n";
  }
  std::map<std::int32_t, int> layers_by_window;
  for (const model::LayerSpec& layer : model.layers) ++layers_by_window[layer.window];
  if (layers_by_window.size() == 1 && layers_by_window.contains(0)) return;
  for (const auto& [window, layers] : layers_by_window) {
    std::cout << "              " << layers << " layers with "
              << (window == 0 ? "full attention" : "a window of " + std::to_string(window) + " tokens") << "\n";
  }
}

std::string format_text(const checkpoint::Checkpoint& checkpoint) {
  const std::string name = checkpoint.format() == checkpoint::Format::kGguf ? "GGUF" : "Hugging Face";
  return checkpoint.conversion() == nullptr ? name : "HDF5 of 'trireme convert', out of " + name;
}

// Of a converted model: what it holds besides its packed matrices.
bool is_stored(const checkpoint::Checkpoint& checkpoint, const checkpoint::TensorInfo& tensor) {
  return checkpoint.conversion() == nullptr || tensor.data != nullptr;
}

void print_tensors(const checkpoint::Checkpoint& checkpoint, bool each) {
  struct Sum {
    std::int64_t count = 0, elements = 0, bytes = 0;
  };
  std::map<std::string, Sum> by_type;
  Sum all;
  for (const checkpoint::TensorInfo& tensor : checkpoint.tensors()) {
    if (!is_stored(checkpoint, tensor)) continue;
    for (Sum* sum : {&by_type[tensor.type_name], &all}) {
      ++sum->count;
      sum->elements += tensor.num_rows() * tensor.row_size();
      sum->bytes += static_cast<std::int64_t>(tensor.bytes);
    }
    if (!each) continue;
    std::cout << "  " << tensor.name << "  " << tensor.type_name << "  " << shape_text(tensor) << "  " << tensor.bytes
              << " bytes\n";
  }
  if (checkpoint.conversion() != nullptr) {
    if (each) std::cout << list_matrices(*checkpoint.conversion());
    std::cout << "matrices      " << checkpoint.conversion()->matrices.size() << ", packed\n";
  }
  std::cout << "tensors       " << all.count << ", " << all.elements << " weights, " << mebibytes(all.bytes) << "\n";
  for (const auto& [type, sum] : by_type) {
    std::cout << "  " << type << "  " << sum.count << " tensors, " << sum.elements << " weights, "
              << mebibytes(sum.bytes) << "\n";
  }
}

void print_matrices(const std::string& what, const std::vector<model::PlannedMatrix>& matrices) {
  std::int64_t bytes = 0;
  for (const model::PlannedMatrix& matrix : matrices) bytes += matrix.bytes;
  std::cout << "  " << what << "  " << mebibytes(bytes) << "  " << model::describe_formats(matrices) << "\n";
}

// How the weights are kept in memory; layers that are alike in one line.
void print_weights(const model::WeightPlan& plan) {
  std::cout << "in memory\n";
  print_matrices("embedding", plan.first);
  for (std::size_t begin = 0, end = 0; begin < plan.layers.size(); begin = end) {
    const std::string formats = model::describe_formats(plan.layers[begin]);
    while (end < plan.layers.size() && model::describe_formats(plan.layers[end]) == formats) ++end;
    const std::string last = end - begin > 1 ? " … " + std::to_string(end - 1) + ", each" : "";
    print_matrices("layer " + std::to_string(begin) + last, plan.layers[begin]);
  }
  print_matrices("head", plan.last);
}

base::Status print_encoder(const checkpoint::Checkpoint& checkpoint, bool each_tensor) {
  const auto encoder = encoder::describe_encoder(checkpoint);
  if (!encoder) return encoder.error();
  std::cout << "architecture  bert, an encoder (trireme classify, trireme embed)\n"
            << "layers        " << encoder->num_layers << "\n"
            << "hidden size   " << encoder->hidden_size << ", feed-forward " << encoder->intermediate_size << "\n"
            << "attention     " << encoder->num_heads << " heads, head_dim " << encoder->head_dim() << "\n"
            << "vocabulary    " << encoder->vocab_size << "\n"
            << "context       " << encoder->max_positions << " tokens\n"
            << "labels        " << (encoder->classifies() ? std::to_string(encoder->labels.size()) : "none") << "\n";
  print_tensors(checkpoint, each_tensor);
  return base::ok_status();
}

base::Status print_adapters(const config::Config& config, const model::ModelDescription& model) {
  for (const config::Adapter& adapter : config.model.adapters) {
    const auto opened = checkpoint::Checkpoint::open_adapter(adapter.path);
    if (!opened) return opened.error();
    const auto description = model::describe_adapter(**opened, model);
    if (!description) return description.error();
    std::cout << "adapter       " << adapter.name << ": rank " << description->rank << ", scale " << description->scale
              << ", on " << description->targets.size() << " matrices, "
              << mebibytes(description->bytes(0, model.num_layers())) << "\n";
  }
  return base::ok_status();
}

constexpr std::int64_t kAmple = std::int64_t{1} << 50;

// As if all ranks ran on this host; where its memory does not suffice, as if it had ample.
base::Status print_plan(const config::Config& config, const engine::PlannedModel& model, int num_ranks) {
  engine::RankFacts facts;
  facts.available_bytes = device::read_host_memory().usable_bytes();
  facts.ranks_on_host = num_ranks;
  const auto plan_with = [&](const engine::RankFacts& each) {
    return engine::make_rank_plan(config, model,
                                  std::vector<engine::RankFacts>(static_cast<std::size_t>(num_ranks), each));
  };
  auto plan = plan_with(facts);
  if (!plan && plan.error().code == base::ErrorCode::kResourceExhausted) {
    std::cout << "on this host alone: " << plan.error().message << "\n";
    facts.available_bytes = kAmple;
    plan = plan_with(facts);
  }
  if (!plan) return plan.error();
  std::cout << num_ranks << " ranks on this host: " << plan->layout.num_replicas() << " replicas of "
            << plan->layout.num_stages() << " stages, context " << plan->max_context << " tokens, up to "
            << plan->max_batch << " sequences\n";
  for (int rank = 0; rank < num_ranks; ++rank) {
    const parallel::LayerRange layers = plan->layout.layers(plan->layout.stage_of(rank));
    const kv_cache::KvPlan& kv = plan->kv[static_cast<std::size_t>(rank)];
    std::cout << "  rank " << rank << ": replica " << plan->layout.replica_of(rank) << ", stage "
              << plan->layout.stage_of(rank) << ", layers [" << layers.begin << ", " << layers.end << "), weights "
              << mebibytes(kv.input.weight_bytes) << "; " << kv_cache::to_string(kv) << "\n";
  }
  for (const std::string& note : plan->notes) std::cout << "  " << note << "\n";
  return base::ok_status();
}

base::Status inspect(const InspectOptions& options, const config::Config& config, int num_ranks) {
  const std::string& path = options.path.empty() ? config.model.path : options.path;
  if (path.empty()) return base::invalid_argument("inspect: a model's path is needed");
  if (const auto line = describe_file(path)) {
    if (line->ok()) std::cout << **line << "\n";
    return line->ok() ? base::ok_status() : base::Status(line->error());
  }
  const auto opened = checkpoint::Checkpoint::open(path);
  if (!opened) return opened.error();
  const checkpoint::Checkpoint& checkpoint = **opened;
  std::cout << "model         " << path << "\n"
            << "format        " << format_text(checkpoint) << "\n";
  if (checkpoint.conversion() != nullptr) std::cout << describe_provenance(checkpoint.conversion()->provenance);
  if (encoder::is_encoder(checkpoint)) return print_encoder(checkpoint, options.tensors);
  const auto description = model::describe_model(checkpoint);
  if (description) print_description(*description);
  print_tensors(checkpoint, options.tensors);
  std::cout << describe_text_side(checkpoint);
  if (!description) return description.error();
  if (auto status = print_adapters(config, *description); !status) return status;
  const model::WeightPlan weights =
      model::plan_weights(*description, model::make_format_chooser(checkpoint, *description, config.model.weights));
  print_weights(weights);
  return print_plan(config, {*description, weights}, num_ranks);
}

int run_inspect(const InspectOptions& options, const CommandContext& context) {
  if (!context.is_root()) return kSuccess;
  const int num_ranks = options.ranks > 0 ? options.ranks : context.world.size();
  const base::Status status = inspect(options, context.config.config, num_ranks);
  std::cout << std::flush;
  if (!status) context.log.error(status.error().message);
  return status ? kSuccess : kFailure;
}

}  // namespace

CommandFunction define_inspect(CLI::App& app) {
  const auto options = std::make_shared<InspectOptions>();
  app.add_option("path", options->path,
                 "model (GGUF file or Hugging Face directory; --model does as well), tokenizer.json, SentencePiece "
                 "model, adapter directory, "
                 "chat template or configuration")
      ->type_name("PATH");
  app.add_option("--ranks", options->ranks, "plan for so many ranks (default: those that run)")
      ->check(CLI::Range(1, kMaxRanks));
  app.add_flag("--tensors", options->tensors, "list every tensor");
  return [options](const CommandContext& context) { return run_inspect(*options, context); };
}

}  // namespace trireme::launch
