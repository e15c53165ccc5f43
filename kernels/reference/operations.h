// The reference operations, one file each: scalar, written for reading, with double sums. Contracts: kernels/ops.h.
#pragma once

#include "kernels/ops.h"

namespace trireme::kernels::reference {

void embed(const EmbedArgs& args);
void rms_norm(const RmsNormArgs& args);
void layer_norm(const LayerNormArgs& args);
void linear(const LinearArgs& args);
void rope_table(const RopeTableArgs& args);
void rope(const RopeArgs& args);
void kv_store(const KvStoreArgs& args);
void attention(const AttentionArgs& args);
void activation(const ActivationArgs& args);
void route_experts(const RouteExpertsArgs& args);
void group_by_expert(const GroupByExpertArgs& args);
void grouped_linear(const GroupedLinearArgs& args);
void combine_experts(const CombineExpertsArgs& args);
void add(const AddArgs& args);
void gather_rows(const GatherRowsArgs& args);
void softcap(const SoftcapArgs& args);
void log_sum_exp(const LogSumExpArgs& args);

}  // namespace trireme::kernels::reference
