// The name a user probably meant: for "did you mean …" in messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace trireme::config {

// Number of insertions, deletions, substitutions and swaps of neighbours that turn one string into the other
// (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the smallest distance, if that is at most a third of the name's length and at least plausible
// (2 edits in short names); otherwise empty. The first of several equally near ones.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// " (did you mean 'x')", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace trireme::config
