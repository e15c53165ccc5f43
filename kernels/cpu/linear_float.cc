// Linear with float weights: output = input * weightsᵀ + bias. A sum is one chain of float32 fused multiply-adds over
// in_features in ascending order, for any number of rows and in every instruction set; its error is at most in_features
// * 2^-24 * sum |input| |weight|.
//
// Few rows are bound by the memory that holds the weights: each panel is read once and widened in registers.
// Many rows are bound by arithmetic: a block of a panel is widened once into float32 scratch that stays in the
// first-level cache while all rows of a chunk are multiplied with it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/linear_float.cc"
#include "hwy/foreach_target.h"
// clang-format: the line above comes first
#include "kernels/cpu/tile-inl.h"

#include <algorithm>

#include "kernels/cpu/linear.h"
#include "kernels/cpu/linear_task.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

inline constexpr std::size_t kPanelVectors = kPanelWidth / kLanes;

// Adds the bias to a chunk's sums [rows, kPanelWidth] and writes them to the output, or adds them to it.
void finish(const LinearArgs& args, const LinearTask& task, std::int64_t panel, const float* sums) {
  const FloatTag d;
  const std::int64_t first_out = panel * kPanelWidth;
  const auto width = static_cast<std::size_t>(std::min(kPanelWidth, args.weights.shape.out_features - first_out));
  for (std::int64_t r = task.row_begin; r < task.row_end; ++r, sums += kPanelWidth) {
    float* output = args.output + r * args.output_stride + first_out;
    for (std::size_t i = 0; i < width; i += kLanes) {
      const std::size_t count = std::min(kLanes, width - i);
      FloatVector sum = hn::Load(d, sums + i);
      if (args.bias != nullptr) sum = hn::Add(sum, load_first(args.bias + first_out + i, count));
      if (args.mode == OutputMode::kAdd) sum = hn::Add(load_first(output + i, count), sum);
      store_first(sum, output + i, count);
    }
  }
}

template <typename Element>
void multiply_few_rows(const LinearArgs& args, const LinearTask& task, std::int64_t panel, float* sums) {
  const auto depth = static_cast<std::size_t>(args.weights.shape.in_features);
  const auto* weights =
      reinterpret_cast<const Element*>(args.weights.data) + static_cast<std::size_t>(panel) * depth * kPanelWidth;
  multiply_tile<kMaxFewRows, kPanelVectors, Element>(
      static_cast<std::size_t>(task.row_end - task.row_begin),
      {args.input + task.row_begin * args.input_stride, static_cast<std::size_t>(args.input_stride), weights,
       kPanelWidth, depth, sums, kPanelWidth, Start::kFromZero});
}

template <typename Element>
void multiply_many_rows(const LinearArgs& args, const LinearTask& task, std::int64_t panel,
                        const LinearScratch& scratch) {
  const FloatTag d;
  const auto depth = static_cast<std::size_t>(args.weights.shape.in_features);
  const auto* weights =
      reinterpret_cast<const Element*>(args.weights.data) + static_cast<std::size_t>(panel) * depth * kPanelWidth;
  for (std::size_t begin = 0; begin < depth; begin += kDepthBlock) {
    const std::size_t size = std::min(kDepthBlock, depth - begin);
    const Element* block = weights + begin * kPanelWidth;
    for (std::size_t i = 0; i < size * kPanelWidth; i += kLanes) {
      hn::Store(load_widened(block + i), d, scratch.widened + i);
    }
    multiply_rows(
        static_cast<std::size_t>(task.row_end - task.row_begin), kPanelWidth,
        {args.input + task.row_begin * args.input_stride + begin, static_cast<std::size_t>(args.input_stride),
         scratch.widened, kPanelWidth, size, scratch.sums, kPanelWidth, begin == 0 ? Start::kFromZero : Start::kFromC});
  }
}

template <typename Element>
void run_task(const LinearArgs& args, const LinearTask& task, const LinearScratch& scratch) {
  for (std::int64_t panel = task.panel_begin; panel < task.panel_end; ++panel) {
    if (task.row_end - task.row_begin <= static_cast<std::int64_t>(kMaxFewRows)) {
      multiply_few_rows<Element>(args, task, panel, scratch.sums);
    } else {
      multiply_many_rows<Element>(args, task, panel, scratch);
    }
    finish(args, task, panel, scratch.sums);
  }
}

void linear_task(const LinearArgs& args, const LinearTask& task, const LinearScratch& scratch) {
  switch (args.weights.shape.format) {
    case WeightFormat::kF32: return run_task<float>(args, task, scratch);
    case WeightFormat::kF16: return run_task<hwy::float16_t>(args, task, scratch);
    default: return run_task<hwy::bfloat16_t>(args, task, scratch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void linear_float(Context& context, const LinearArgs& args) {
  const auto run = choose(context, N_AVX2::linear_task, N_AVX3::linear_task);
  const LinearSplit split(args, context.pool.num_threads());
  context.thread_scratch.reserve(LinearScratch::bytes());
  context.pool.parallel_for(split.num_tasks(), [&](std::int64_t i) {
    const ScratchPool::Lease lease(context.thread_scratch);
    run(args, split.task(i), LinearScratch(lease.floats()));
  });
}

}  // namespace trireme::kernels::cpu
#endif
