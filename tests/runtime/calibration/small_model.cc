#include "tests/runtime/calibration/small_model.h"

#include <random>
#include <stdexcept>

#include "kernels/cpu_ops.h"
#include "runtime/model/architecture.h"
#include "tests/support/golden.h"

namespace trireme::test {

SmallModel::SmallModel(const std::string& name) : ops(kernels::make_reference_ops()) {
  const auto sets = kernels::available_instruction_sets();
  if (!sets.empty()) ops = kernels::make_cpu_ops(sets.back(), pool);
  checkpoint = std::move(checkpoint::Checkpoint::open(golden_model(name)).value());
  description = model::describe_model(*checkpoint).value();
  int8 = model::make_format_chooser(*checkpoint, description, config::Weights::kInt8);
  f32 = model::make_format_chooser(*checkpoint, description, config::Weights::kF32);
}

std::unique_ptr<calibration::WholeModel> SmallModel::load(const model::FormatChooser& choose, std::int32_t max_tokens) {
  auto loaded = calibration::WholeModel::load(*checkpoint, description, choose, {*ops, pool}, max_tokens);
  if (!loaded) throw std::runtime_error(loaded.error().message);
  return std::move(loaded).value();
}

std::vector<calibration::Tokens> SmallModel::texts(std::size_t count, std::size_t size) const {
  std::vector<calibration::Tokens> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    for (std::size_t j = 0; j < size; ++j) {
      texts[i].push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(description.vocab_size)));
    }
  }
  return texts;
}

}  // namespace trireme::test
