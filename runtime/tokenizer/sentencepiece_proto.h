// What libsentencepiece does not check in a model before it uses it: its tables of normalisations.
#pragma once

#include <string_view>

#include "base/result.h"

namespace trireme::tokenizer {

// `serialized`: a ModelProto (sentencepiece_model.proto). Error: it is damaged, or following one of its tables of
// normalisations would lead out of it.
base::Status check_sentencepiece_charsmaps(std::string_view serialized);

}  // namespace trireme::tokenizer
