// The shape checks of every operation, shared by all back ends: a failure is our own mistake (TRIREME_CHECK).
#pragma once

#include "kernels/ops.h"

namespace trireme::kernels {

void check(const EmbedArgs& args);
void check(const RmsNormArgs& args);
void check(const LayerNormArgs& args);
void check(const LinearArgs& args);
void check(const RopeTableArgs& args);
void check(const RopeArgs& args);
void check(const KvStoreArgs& args);
void check(const AttentionArgs& args);
void check(const ActivationArgs& args);
void check(const RouteExpertsArgs& args);
void check(const GroupByExpertArgs& args);
void check(const GroupedLinearArgs& args);
void check(const CombineExpertsArgs& args);
void check(const AddArgs& args);
void check(const GatherRowsArgs& args);
void check(const SoftcapArgs& args);
void check(const LogSumExpArgs& args);

}  // namespace trireme::kernels
