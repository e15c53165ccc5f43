// Dispatch only: checks the arguments and calls the operation of the same name.
#include "kernels/check_args.h"
#include "kernels/ops.h"
#include "kernels/reference/operations.h"

namespace trireme::kernels {
namespace {

class ReferenceOps final : public Ops {
 public:
  std::string_view name() const override { return "reference"; }

  void embed(const EmbedArgs& args, base::Stream) override { check(args), reference::embed(args); }
  void rms_norm(const RmsNormArgs& args, base::Stream) override { check(args), reference::rms_norm(args); }
  void layer_norm(const LayerNormArgs& args, base::Stream) override { check(args), reference::layer_norm(args); }
  void linear(const LinearArgs& args, base::Stream) override { check(args), reference::linear(args); }
  void rope_table(const RopeTableArgs& args, base::Stream) override { check(args), reference::rope_table(args); }
  void rope(const RopeArgs& args, base::Stream) override { check(args), reference::rope(args); }
  void kv_store(const KvStoreArgs& args, base::Stream) override { check(args), reference::kv_store(args); }
  void attention(const AttentionArgs& args, base::Stream) override { check(args), reference::attention(args); }
  void activation(const ActivationArgs& args, base::Stream) override { check(args), reference::activation(args); }
  void route_experts(const RouteExpertsArgs& args, base::Stream) override {
    check(args), reference::route_experts(args);
  }
  void group_by_expert(const GroupByExpertArgs& args, base::Stream) override {
    check(args), reference::group_by_expert(args);
  }
  void grouped_linear(const GroupedLinearArgs& args, base::Stream) override {
    check(args), reference::grouped_linear(args);
  }
  void combine_experts(const CombineExpertsArgs& args, base::Stream) override {
    check(args), reference::combine_experts(args);
  }
  void add(const AddArgs& args, base::Stream) override { check(args), reference::add(args); }
  void gather_rows(const GatherRowsArgs& args, base::Stream) override { check(args), reference::gather_rows(args); }
  void softcap(const SoftcapArgs& args, base::Stream) override { check(args), reference::softcap(args); }
  void log_sum_exp(const LogSumExpArgs& args, base::Stream) override { check(args), reference::log_sum_exp(args); }
};

}  // namespace

std::unique_ptr<Ops> make_reference_ops() {
  return std::make_unique<ReferenceOps>();
}

}  // namespace trireme::kernels
