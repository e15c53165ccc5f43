// The SIMD operations, one file each. Contracts: kernels/ops.h; arguments are checked already.
#pragma once

#include "kernels/cpu/context.h"
#include "kernels/ops.h"

namespace trireme::kernels::cpu {

void embed(Context& context, const EmbedArgs& args);
void rms_norm(Context& context, const RmsNormArgs& args);
void layer_norm(Context& context, const LayerNormArgs& args);
void linear(Context& context, const LinearArgs& args);
void rope_table(Context& context, const RopeTableArgs& args);
void rope(Context& context, const RopeArgs& args);
void kv_store(Context& context, const KvStoreArgs& args);
void attention(Context& context, const AttentionArgs& args);
void activation(Context& context, const ActivationArgs& args);
void route_experts(Context& context, const RouteExpertsArgs& args);
void group_by_expert(Context& context, const GroupByExpertArgs& args);
void grouped_linear(Context& context, const GroupedLinearArgs& args);
void combine_experts(Context& context, const CombineExpertsArgs& args);
void add(Context& context, const AddArgs& args);
void gather_rows(Context& context, const GatherRowsArgs& args);
void softcap(Context& context, const SoftcapArgs& args);
void log_sum_exp(Context& context, const LogSumExpArgs& args);

}  // namespace trireme::kernels::cpu
