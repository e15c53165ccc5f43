#include "runtime/model/model_description.h"

#include <algorithm>

namespace trireme::model {

std::vector<std::int32_t> ModelDescription::window_groups() const {
  std::vector<std::int32_t> windows;
  for (const LayerSpec& layer : layers) windows.push_back(layer.window);
  std::sort(windows.begin(), windows.end());
  windows.erase(std::unique(windows.begin(), windows.end()), windows.end());
  return windows;
}

std::int32_t ModelDescription::group_of_layer(std::int32_t layer) const {
  const auto groups = window_groups();
  const auto found = std::find(groups.begin(), groups.end(), layers[static_cast<std::size_t>(layer)].window);
  return static_cast<std::int32_t>(found - groups.begin());
}

std::int64_t ModelDescription::layer_linear_weights(std::int32_t layer) const {
  const std::int64_t attention = (qkv_rows() + q_rows()) * hidden_size;
  if (layers[static_cast<std::size_t>(layer)].experts) {
    const std::int64_t expert_rows = 3 * std::int64_t{experts.intermediate_size};
    return attention + (experts.num_experts + experts.num_chosen * expert_rows) * hidden_size;
  }
  return attention + (gate_up_rows() + intermediate_size) * hidden_size;
}

}  // namespace trireme::model
