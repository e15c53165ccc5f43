// Converted files that are cut, altered, or lie about themselves: each is refused with one line that names the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/conversion.h"
#include "tests/runtime/checkpoint/hdf5/converted_file.h"
#include "tests/support/temporary_folder.h"

namespace trireme::checkpoint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Hdf5HostileTest : public testing::Test {
 protected:
  Hdf5HostileTest() {
    test::write_converted_file(folder_ / "good.h5");
    good_ = test::read_bytes(folder_ / "good.h5");
  }

  // Opening, then copying all matrices.
  std::string error_of(std::span<const std::byte> bytes) const {
    const auto opened = Checkpoint::open(folder_.write("bad.h5", bytes));
    if (!opened) return opened.error().message;
    kernels::ThreadPool pool(1);
    const Conversion& conversion = *(*opened)->conversion();
    for (const PackedMatrix& matrix : conversion.matrices) {
      std::vector<std::byte> packed(matrix.shape.bytes());
      if (const auto status = copy_matrix(conversion, matrix, pool, packed.data()); !status)
        return status.error().message;
    }
    return "accepted";
  }
  std::string error_at(std::uint64_t offset) const {
    std::vector<std::byte> bytes = good_;
    bytes.at(offset) ^= std::byte{0x10};
    return error_of(bytes);
  }
  std::string error_with(const std::function<void(nlohmann::json&)>& change) const {
    nlohmann::json index = nlohmann::json::parse(to_json(test::index_of(good_)));
    change(index);
    return error_of(test::with_index(good_, index.dump()));
  }

  const test::TemporaryFolder folder_;
  std::vector<std::byte> good_;
};

TEST_F(Hdf5HostileTest, EveryAlteredTensorIsNamed) {
  const FileIndex index = test::index_of(good_);
  for (const IndexedMatrix& matrix : index.matrices) {
    for (const std::uint64_t place : {std::uint64_t{0}, matrix.extent.bytes / 2, matrix.extent.bytes - 1}) {
      EXPECT_THAT(error_at(matrix.extent.offset + place), AllOf(HasSubstr("'" + matrix.name), HasSubstr("altered")));
    }
  }
  EXPECT_THAT(error_at(index.tensors.front().extent.offset), HasSubstr("norm.weight"));
  EXPECT_THAT(error_at(index.files.front().extent.offset), HasSubstr("config.json"));
}

TEST_F(Hdf5HostileTest, EveryAlteredByteElsewhereIsNoticed) {
  for (std::size_t offset = 0; offset < good_.size(); offset += 61) EXPECT_NE(error_at(offset), "accepted") << offset;
}

TEST_F(Hdf5HostileTest, EveryCutIsNoticed) {
  for (std::size_t size = 0; size < good_.size(); size += 97) {
    EXPECT_THAT(error_of(std::span(good_).first(size)), AllOf(HasSubstr("bad.h5"), Not(HasSubstr("accepted")))) << size;
  }
  std::vector<std::byte> longer = good_;
  longer.push_back({});
  EXPECT_THAT(error_of(longer), HasSubstr("bytes"));
}

TEST_F(Hdf5HostileTest, ACutFileNamesTheFirstTensorThatItLacks) {
  // The index survives the cut: it lies before the tensor that is missing.
  nlohmann::json text = nlohmann::json::parse(to_json(test::index_of(good_)));
  text["matrices"][0]["offset"] = good_.size() + 4096;
  std::vector<std::byte> bytes = test::with_index(good_, text.dump());
  UserBlock longer = test::user_block_of(bytes);
  longer.file_bytes += 1 << 20;
  const auto encoded = encode(longer);
  std::copy(encoded.begin(), encoded.end(), bytes.begin());
  EXPECT_THAT(error_of(bytes), HasSubstr("layers/0/qkv"));
}

TEST_F(Hdf5HostileTest, WhatIsNotFinishedOrNotOursIsRefused) {
  std::vector<std::byte> unfinished = good_;
  std::fill_n(unfinished.begin(), kUserBlockBytes, std::byte{});
  EXPECT_THAT(error_of(unfinished), HasSubstr("did not write to its end"));
  const std::vector<std::byte> plain(unfinished.begin() + kUserBlockBytes, unfinished.end());
  EXPECT_THAT(error_of(plain), HasSubstr("an HDF5 file that 'trireme convert' did not write"));
  EXPECT_THAT(error_of(std::as_bytes(std::span("hello"))), HasSubstr("not an HDF5 file"));
  EXPECT_THAT(error_of({}), HasSubstr("not an HDF5 file"));
}

TEST_F(Hdf5HostileTest, AForgedIndexGainsNothing) {
  static constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
  const std::function<void(nlohmann::json&)> changes[] = {
      [](auto& index) { index["matrices"][0]["out_features"] = 1'000'000'000; },
      [](auto& index) { index["matrices"][0]["out_features"] = kHuge; },
      [](auto& index) { index["matrices"][0]["in_features"] = -1; },
      [](auto& index) { index["matrices"][0]["in_features"] = 0; },
      [](auto& index) { index["matrices"][0]["offset"] = kHuge; },
      [](auto& index) { index["matrices"][0]["offset"] = 0; },
      [](auto& index) { index["matrices"][0]["bytes"] = kHuge; },
      [](auto& index) { index["matrices"][0]["bytes"] = 0; },
      [](auto& index) { index["matrices"][0]["format"] = "gzip"; },
      [](auto& index) { index["matrices"][0].erase("checksum"); },
      [](auto& index) { index["matrices"].push_back(index["matrices"][0]); },
      [](auto& index) { index["matrices"][0]["offset"] = index["matrices"][1]["offset"]; },
      [](auto& index) { index["tensors"][0]["shape"] = {1'000'000'000}; },
      [](auto& index) { index["tensors"][0]["shape"] = {kHuge}; },
      [](auto& index) { index["tensors"][0]["shape"] = std::vector<int>(100, 1); },
      [](auto& index) { index["tensors"][0]["type"] = "compound"; },
      [](auto& index) { index["source_format"] = 7; },
      [](auto& index) { index["files"] = nlohmann::json::array(); },
      [](auto& index) { index["matrices"] = 3; },
      [](auto& index) {
        index = nlohmann::json::array({1, 2});
      },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    EXPECT_THAT(error_with(changes[i]), AllOf(HasSubstr("bad.h5"), Not(HasSubstr("\n")))) << i;
  }
  EXPECT_EQ(error_with([](auto&) {}), "accepted");
  EXPECT_THAT(error_with(changes[0]), HasSubstr("layers/0/qkv"));
  EXPECT_THAT(error_of(test::with_index(good_, std::string(100'000, '['))), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace trireme::checkpoint
