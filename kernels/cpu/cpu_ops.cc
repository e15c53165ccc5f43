// Dispatch only: checks the arguments and calls the operation of the same name.
#include "kernels/cpu_ops.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/check_args.h"
#include "kernels/cpu/operations.h"

namespace trireme::kernels {
namespace {

class CpuOps final : public Ops {
 public:
  CpuOps(InstructionSet set, ThreadPool& pool) : context_{set, pool, cpu::ScratchPool(pool.num_threads()), {}, {}} {}

  std::string_view name() const override { return to_string(context_.set); }

  void embed(const EmbedArgs& args, base::Stream) override { check(args), cpu::embed(context_, args); }
  void rms_norm(const RmsNormArgs& args, base::Stream) override { check(args), cpu::rms_norm(context_, args); }
  void layer_norm(const LayerNormArgs& args, base::Stream) override { check(args), cpu::layer_norm(context_, args); }
  void linear(const LinearArgs& args, base::Stream) override { check(args), cpu::linear(context_, args); }
  void rope_table(const RopeTableArgs& args, base::Stream) override { check(args), cpu::rope_table(context_, args); }
  void rope(const RopeArgs& args, base::Stream) override { check(args), cpu::rope(context_, args); }
  void kv_store(const KvStoreArgs& args, base::Stream) override { check(args), cpu::kv_store(context_, args); }
  void attention(const AttentionArgs& args, base::Stream) override { check(args), cpu::attention(context_, args); }
  void activation(const ActivationArgs& args, base::Stream) override { check(args), cpu::activation(context_, args); }
  void route_experts(const RouteExpertsArgs& args, base::Stream) override {
    check(args), cpu::route_experts(context_, args);
  }
  void group_by_expert(const GroupByExpertArgs& args, base::Stream) override {
    check(args), cpu::group_by_expert(context_, args);
  }
  void grouped_linear(const GroupedLinearArgs& args, base::Stream) override {
    check(args), cpu::grouped_linear(context_, args);
  }
  void combine_experts(const CombineExpertsArgs& args, base::Stream) override {
    check(args), cpu::combine_experts(context_, args);
  }
  void add(const AddArgs& args, base::Stream) override { check(args), cpu::add(context_, args); }
  void gather_rows(const GatherRowsArgs& args, base::Stream) override { check(args), cpu::gather_rows(context_, args); }
  void softcap(const SoftcapArgs& args, base::Stream) override { check(args), cpu::softcap(context_, args); }
  void log_sum_exp(const LogSumExpArgs& args, base::Stream) override { check(args), cpu::log_sum_exp(context_, args); }

 private:
  cpu::Context context_;
};

}  // namespace

std::unique_ptr<Ops> make_cpu_ops(InstructionSet set, ThreadPool& pool) {
  const auto available = available_instruction_sets();
  TRIREME_CHECK(std::find(available.begin(), available.end(), set) != available.end()) << to_string(set);
  return std::make_unique<CpuOps>(set, pool);
}

}  // namespace trireme::kernels
