// GgufFile: reader of GGUF v3 (little-endian), memory-mapped. All counts, lengths, offsets and types are checked before
// anything is allocated from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"

namespace trireme::checkpoint {

class GgufFile {
 public:
  static base::Result<std::unique_ptr<GgufFile>> open(const std::filesystem::path& path);
  // Of the header alone, as a converted file keeps it; `header` outlives the result, `name` is for messages.
  static base::Result<std::unique_ptr<GgufFile>> from_header(std::span<const std::byte> header,
                                                             const std::string& name);
  ~GgufFile();

  // Scalars, strings and arrays of at most 1,024 elements, by key.
  const nlohmann::json& metadata() const;

  bool has(std::string_view key) const;
  // Arrays of any length; nothing if the key is missing or of another element type. Views point into the mapping.
  std::optional<std::vector<std::string_view>> string_array(std::string_view key) const;
  std::optional<std::vector<float>> float_array(std::string_view key) const;
  std::optional<std::vector<std::int32_t>> int_array(std::string_view key) const;  // any integer type that fits

  FileHeader file_header() const;
  std::span<const TensorInfo> tensors() const;  // shapes outermost first, that is, reversed from the file's order

 private:
  GgufFile();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::checkpoint
