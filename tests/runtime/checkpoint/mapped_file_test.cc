#include "runtime/checkpoint/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "tests/support/temporary_folder.h"

namespace trireme::checkpoint {
namespace {

TEST(MappedFileTest, MapsTheBytesAndKeepsThemWhenMoved) {
  const test::TemporaryFolder folder;
  auto opened = MappedFile::open(folder.write("a", "hello"));
  ASSERT_TRUE(opened) << opened.error().message;
  MappedFile first = std::move(*opened);
  const auto* address = first.bytes().data();
  const MappedFile second = std::move(first);
  EXPECT_EQ(second.text(), "hello");
  EXPECT_EQ(second.bytes().data(), address);
  EXPECT_EQ(second.name(), (folder / "a").string());
}

TEST(MappedFileTest, MapsAnEmptyFileToNoBytes) {
  const test::TemporaryFolder folder;
  const auto file = MappedFile::open(folder.write("empty", std::string_view()));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFileTest, FollowsALinkToARegularFile) {
  const test::TemporaryFolder folder, elsewhere;
  std::filesystem::create_symlink(elsewhere.write("blob", "hello"), folder / "link");
  EXPECT_EQ(MappedFile::open(folder / "link")->text(), "hello");
}

TEST(MappedFileTest, RefusesWhatIsNoRegularFileWithoutBlocking) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", folder / "loop");
  const auto error_of = [](const std::filesystem::path& path) { return MappedFile::open(path).error(); };
  EXPECT_EQ(error_of(folder / "pipe").message, (folder / "pipe").string() + ": not a regular file");
  EXPECT_EQ(error_of(folder.path()).message, folder.path().string() + ": not a regular file");
  EXPECT_EQ(error_of("/dev/zero").message, "/dev/zero: not a regular file");
  EXPECT_EQ(error_of(folder / "loop").message, (folder / "loop").string() + ": Too many levels of symbolic links");
  EXPECT_EQ(error_of(folder / "missing").code, base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace trireme::checkpoint
