// A small converted file, as the tests of this folder take it apart.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "runtime/checkpoint/hdf5/file_index.h"
#include "runtime/checkpoint/hdf5/user_block.h"

namespace trireme::test {

// The packed bytes of matrix number `index`: int8, [40, 48].
std::vector<std::byte> matrix_contents(int index);

// Out of a Hugging Face model: matrices "embedding" and "layers/0/qkv", vector "norm.weight" [3] = {1, 2, 3}, the
// mention of tensor "q.weight", and a config.json.
void write_converted_file(const std::filesystem::path& path);

std::vector<std::byte> read_bytes(const std::filesystem::path& path);

// User block and index of the bytes of a good file.
checkpoint::UserBlock user_block_of(const std::vector<std::byte>& file);
checkpoint::FileIndex index_of(const std::vector<std::byte>& file);

// The file with another index, at its end, with all checksums of index and structure right: what a careful forger
// makes.
std::vector<std::byte> with_index(std::vector<std::byte> file, const std::string& index);

}  // namespace trireme::test
