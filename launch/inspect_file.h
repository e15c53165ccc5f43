// What Trireme makes of a file or directory that is not a model: a tokenizer, an adapter, a configuration, a template.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"

namespace trireme::launch {

// One line: what it is, and that it is usable. Error: it is not, and why. Nothing: it should be a model.
std::optional<base::Result<std::string>> describe_file(const std::filesystem::path& path);

// Of a model, one line each: its tokenizer and its chat template, or why it has none that is usable.
std::string describe_text_side(const checkpoint::Checkpoint& checkpoint);

}  // namespace trireme::launch
