// The file appears whole or not at all, and any HDF5 program can read it.
#include "runtime/checkpoint/hdf5/hdf5_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/checkpoint/hdf5/hdf5_error.h"
#include "tests/runtime/checkpoint/hdf5/converted_file.h"
#include "tests/support/temporary_folder.h"

namespace trireme::checkpoint {
namespace {

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST(Hdf5WriterTest, LeavesNothingWithoutFinish) {
  const test::TemporaryFolder folder;
  {
    Hdf5Writer writer(folder / "m.h5", {}, Format::kGguf);
    const std::vector<std::byte> bytes = test::matrix_contents(0);
    writer.add_matrix({"a", {kernels::WeightFormat::kInt8, 40, 48}, {}, bytes, 0});
    EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("m.h5.partial"));
  }
  EXPECT_THAT(names_in(folder.path()), testing::IsEmpty());
}

TEST(Hdf5WriterTest, ReplacesAnOldFileOnlyAtTheEnd) {
  const test::TemporaryFolder folder;
  folder.write("m.h5", "old");
  folder.write("m.h5.partial", "left by a killed process");
  { Hdf5Writer writer(folder / "m.h5", {}, Format::kGguf); }
  EXPECT_EQ(test::read_bytes(folder / "m.h5").size(), 3u);
  test::write_converted_file(folder / "m.h5");
  EXPECT_TRUE(decode_user_block(test::read_bytes(folder / "m.h5")).has_value());
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("m.h5"));
}

TEST(Hdf5WriterTest, TheSameContentsGiveTheSameBytes) {
  const test::TemporaryFolder folder;
  test::write_converted_file(folder / "a.h5");
  test::write_converted_file(folder / "b.h5");
  EXPECT_EQ(test::read_bytes(folder / "a.h5"), test::read_bytes(folder / "b.h5"));
}

TEST(Hdf5WriterTest, SaysWhyItCannotWrite) {
  try {
    Hdf5Writer writer("/no/such/folder/m.h5", {}, Format::kGguf);
    FAIL();
  } catch (const Hdf5Error& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("/no/such/folder/m.h5"), testing::HasSubstr("H5Fcreate"),
                               testing::HasSubstr("No such file or directory")));
  }
}

}  // namespace
}  // namespace trireme::checkpoint
