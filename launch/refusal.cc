#include "launch/refusal.h"

#include "launch/exit_codes.h"
#include "launch/log.h"

namespace trireme::launch {

int refuse(const CommandContext& context, const base::Error& error) {
  if (context.is_root()) context.log.error(error.message);
  return exit_code_of(error);
}

}  // namespace trireme::launch
