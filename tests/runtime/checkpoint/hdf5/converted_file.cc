#include "tests/runtime/checkpoint/hdf5/converted_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/checkpoint/hdf5/checksum.h"
#include "runtime/checkpoint/hdf5/hdf5_writer.h"

namespace trireme::test {
namespace {

constexpr kernels::PackedMatrixShape kShape = {kernels::WeightFormat::kInt8, 40, 48};

}  // namespace

std::vector<std::byte> matrix_contents(int index) {
  std::vector<std::byte> bytes(kShape.bytes());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(index));
  return bytes;
}

void write_converted_file(const std::filesystem::path& path) {
  const checkpoint::Provenance provenance{"int8", "1.2.3", "trireme convert a b", "a", 99, 0xABCDEF};
  checkpoint::Hdf5Writer writer(path, provenance, checkpoint::Format::kHuggingFace);
  const std::string config = R"({"model_type": "llama"})";
  writer.add_file("config.json", std::as_bytes(std::span(config)));
  const float norm[] = {1.0f, 2.0f, 3.0f};
  writer.add_tensor("tensors", {.name = "norm.weight",
                                .type = checkpoint::TensorType::kF32,
                                .shape = {3},
                                .data = reinterpret_cast<const std::byte*>(norm),
                                .bytes = sizeof norm,
                                .file = "",
                                .type_name = "F32"});
  writer.mention_tensor(
      {.name = "q.weight", .type = checkpoint::TensorType::kBF16, .shape = {40, 48}, .file = "", .type_name = "BF16"});
  const std::vector<std::byte> first = matrix_contents(1), second = matrix_contents(2);
  writer.add_matrix({"layers/0/qkv", kShape, {"q.weight"}, first, 0});
  writer.add_matrix({"embedding", kShape, {"e.weight"}, second, 0});
  writer.finish();
}

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

checkpoint::UserBlock user_block_of(const std::vector<std::byte>& file) {
  return checkpoint::decode_user_block(file).value();
}

checkpoint::FileIndex index_of(const std::vector<std::byte>& file) {
  const checkpoint::UserBlock block = user_block_of(file);
  const std::string_view text(reinterpret_cast<const char*>(file.data() + block.index_offset), block.index_bytes);
  return checkpoint::parse_index(text, file.size(), "f").value();
}

std::vector<std::byte> with_index(std::vector<std::byte> file, const std::string& index) {
  checkpoint::UserBlock block = user_block_of(file);
  const auto text = std::as_bytes(std::span(index));
  block.index_offset = file.size();
  block.index_bytes = text.size();
  block.index_checksum = checkpoint::checksum_of(text);
  file.insert(file.end(), text.begin(), text.end());
  block.file_bytes = file.size();
  const auto parsed = checkpoint::parse_index(index, file.size(), "f");
  if (parsed) {
    const auto structure =
        structure_checksum(file, *parsed, {block.index_offset, block.index_bytes, block.index_checksum});
    if (structure) block.structure_checksum = *structure;
  }
  const auto encoded = encode(block);
  std::copy(encoded.begin(), encoded.end(), file.begin());
  return file;
}

}  // namespace trireme::test
