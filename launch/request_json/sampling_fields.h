// The fields of a request that say how tokens are drawn and when an output ends.
#pragma once

#include "launch/request_json/parse_request.h"

namespace trireme::launch {

// Overwrites what the request gives; mistakes are left in `reader`.
void read_sampling_fields(FieldReader& reader, RequestForm form, RequestSpec& spec);

}  // namespace trireme::launch
