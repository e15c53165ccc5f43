// A text to compare the perplexity of one model in several formats where the user names none.
#pragma once

#include <string_view>

namespace trireme::launch {

// English prose of some five hundred words, written for this project.
std::string_view sample_text();

}  // namespace trireme::launch
