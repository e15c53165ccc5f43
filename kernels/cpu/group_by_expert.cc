// A counting sort of some thousand numbers at most: not worth a second thread.
#include "kernels/cpu/operations.h"
#include "kernels/reference/operations.h"

namespace trireme::kernels::cpu {

void group_by_expert(Context&, const GroupByExpertArgs& args) {
  reference::group_by_expert(args);
}

}  // namespace trireme::kernels::cpu
