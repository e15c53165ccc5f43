// OpsDecorator: Ops that pass every operation on to others; what watches or changes some of them derives from it.
#pragma once

#include "kernels/ops.h"

namespace trireme::calibration {

class OpsDecorator : public kernels::Ops {
 public:
  explicit OpsDecorator(kernels::Ops& inner) : inner_(inner) {}  // outlives this object

  std::string_view name() const override { return inner_.name(); }
  void embed(const kernels::EmbedArgs& args, base::Stream stream) override { inner_.embed(args, stream); }
  void rms_norm(const kernels::RmsNormArgs& args, base::Stream stream) override { inner_.rms_norm(args, stream); }
  void layer_norm(const kernels::LayerNormArgs& args, base::Stream stream) override { inner_.layer_norm(args, stream); }
  void linear(const kernels::LinearArgs& args, base::Stream stream) override { inner_.linear(args, stream); }
  void rope_table(const kernels::RopeTableArgs& args, base::Stream stream) override { inner_.rope_table(args, stream); }
  void rope(const kernels::RopeArgs& args, base::Stream stream) override { inner_.rope(args, stream); }
  void kv_store(const kernels::KvStoreArgs& args, base::Stream stream) override { inner_.kv_store(args, stream); }
  void attention(const kernels::AttentionArgs& args, base::Stream stream) override { inner_.attention(args, stream); }
  void activation(const kernels::ActivationArgs& args, base::Stream stream) override {
    inner_.activation(args, stream);
  }
  void route_experts(const kernels::RouteExpertsArgs& args, base::Stream stream) override {
    inner_.route_experts(args, stream);
  }
  void group_by_expert(const kernels::GroupByExpertArgs& args, base::Stream stream) override {
    inner_.group_by_expert(args, stream);
  }
  void grouped_linear(const kernels::GroupedLinearArgs& args, base::Stream stream) override {
    inner_.grouped_linear(args, stream);
  }
  void combine_experts(const kernels::CombineExpertsArgs& args, base::Stream stream) override {
    inner_.combine_experts(args, stream);
  }
  void add(const kernels::AddArgs& args, base::Stream stream) override { inner_.add(args, stream); }
  void gather_rows(const kernels::GatherRowsArgs& args, base::Stream stream) override {
    inner_.gather_rows(args, stream);
  }
  void softcap(const kernels::SoftcapArgs& args, base::Stream stream) override { inner_.softcap(args, stream); }
  void log_sum_exp(const kernels::LogSumExpArgs& args, base::Stream stream) override {
    inner_.log_sum_exp(args, stream);
  }

 protected:
  kernels::Ops& inner_;
};

}  // namespace trireme::calibration
