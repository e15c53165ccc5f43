#include "runtime/encoder/encoder_description.h"

#include "runtime/model/common_settings.h"
#include "runtime/model/metadata_reader.h"

namespace trireme::encoder {
namespace {

constexpr std::string_view kModelType = "bert";

std::string model_type(const checkpoint::Checkpoint& checkpoint) {
  if (checkpoint.format() != checkpoint::Format::kHuggingFace) return "";
  model::MetadataReader config(checkpoint.metadata(), "");
  return config.text_or("model_type", "");
}

void read_sizes(model::MetadataReader& config, EncoderDescription& encoder) {
  encoder.vocab_size = config.positive("vocab_size");
  encoder.num_token_types = config.positive_or("type_vocab_size", 2);
  encoder.max_positions = config.positive("max_position_embeddings");
  encoder.hidden_size = config.positive("hidden_size");
  encoder.intermediate_size = config.positive("intermediate_size");
  encoder.num_heads = config.positive("num_attention_heads");
  encoder.num_layers = config.positive("num_hidden_layers");
  constexpr std::int32_t kMaxSize = 1 << 20;
  if (encoder.num_layers > kMaxSize || encoder.hidden_size > kMaxSize || encoder.intermediate_size > kMaxSize)
    config.fail("number or size of layers", "is implausibly large");
  if (encoder.hidden_size % encoder.num_heads != 0 || encoder.head_dim() % 4 != 0)
    config.fail("num_attention_heads", "does not divide hidden_size into multiples of 4");
  if (config.text_or("position_embedding_type", "absolute") != "absolute")
    config.fail("position_embedding_type", "other than absolute is not supported");
}

// "id2label": {"0": "safe", …}; where it is missing, labels are called by their index.
void read_labels(model::MetadataReader& config, std::int32_t num_labels, EncoderDescription& encoder) {
  const nlohmann::json* names = config.find("id2label");
  for (std::int32_t i = 0; i < num_labels; ++i) {
    const std::string index = std::to_string(i);
    const bool named = names != nullptr && names->is_object() && names->contains(index) && (*names)[index].is_string();
    encoder.labels.push_back(named ? (*names)[index].get<std::string>() : "LABEL_" + index);
  }
}

}  // namespace

bool is_encoder(const checkpoint::Checkpoint& checkpoint) {
  return model_type(checkpoint) == kModelType;
}

base::Result<EncoderDescription> describe_encoder(const checkpoint::Checkpoint& checkpoint) {
  const std::string where = (checkpoint.path() / "config.json").string();
  if (!is_encoder(checkpoint)) {
    return base::unsupported(where + ": is no encoder that is supported (bert is, as a Hugging Face directory)");
  }
  model::MetadataReader config(checkpoint.metadata(), where);
  EncoderDescription encoder;
  read_sizes(config, encoder);
  encoder.norm_epsilon = static_cast<float>(config.number_or("layer_norm_eps", 1e-12));
  encoder.activation = model::activation_from_hugging_face(config, "hidden_act", "gelu");
  encoder.labels_are_exclusive = config.text_or("problem_type", "") != "multi_label_classification";
  if (config.error()) return *config.error();
  constexpr std::string_view kPrefix = "bert.";
  if (checkpoint.find("bert.embeddings.word_embeddings.weight") != nullptr) encoder.prefix = kPrefix;
  const checkpoint::TensorInfo* head = checkpoint.find("classifier.weight");
  constexpr std::int64_t kMaxLabels = 1 << 16;
  if (head != nullptr && head->num_rows() > kMaxLabels) return base::unsupported(where + ": too many labels");
  if (head != nullptr) read_labels(config, static_cast<std::int32_t>(head->num_rows()), encoder);
  return encoder;
}

}  // namespace trireme::encoder
