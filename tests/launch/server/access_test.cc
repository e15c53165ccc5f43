#include "launch/server/core/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace trireme::server {
namespace {

using testing::HasSubstr;

class AccessTest : public testing::Test {
 protected:
  std::string file_of(const std::string& text, mode_t mode = 0600) {
    const std::string path = (folder_ / "keys").string();
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::string refusal(const std::string& path) {
    const auto access = Access::from_file(path);
    return access.ok() ? "" : access.error().message;
  }
  test::TemporaryFolder folder_;
};

TEST_F(AccessTest, WithoutKeysEverybodyIsTheCommonTenant) {
  EXPECT_TRUE(Access().open());
  EXPECT_EQ(Access().tenant_of("anything"), "");
}

TEST_F(AccessTest, AKeyStandsForItsTenant) {
  const auto access = Access::from_file(file_of("# keys\n\nsk-common\nalice sk-a\nbob sk-b\nalice sk-a2\n"));
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->tenant_of("sk-common"), "");
  EXPECT_EQ(access->tenant_of("sk-a"), "alice");
  EXPECT_EQ(access->tenant_of("sk-a2"), "alice");
  EXPECT_EQ(access->tenant_of("sk-b"), "bob");
  EXPECT_EQ(access->num_tenants(), 3u);
}

TEST_F(AccessTest, RefusesWhatIsNotExactlyAKey) {
  const auto access = Access::from_file(file_of("sk-secret\n"));
  ASSERT_TRUE(access.ok());
  for (const char* wrong : {"", "sk-secre", "sk-secret2", "SK-SECRET", " sk-secret", "sk-secret\n"}) {
    EXPECT_EQ(access->tenant_of(wrong), std::nullopt) << wrong;
  }
}

TEST_F(AccessTest, RefusesFilesThatAreMissingOpenToOthersEmptyOrMalformed) {
  EXPECT_THAT(refusal("/nonexistent/keys"), HasSubstr("no such file"));
  EXPECT_THAT(refusal(file_of("sk-a\n", 0644)), HasSubstr("chmod 600"));
  EXPECT_THAT(refusal(file_of("# nothing\n")), HasSubstr("no API key"));
  EXPECT_THAT(refusal(file_of("a b c\n")), HasSubstr(":1:"));
  EXPECT_THAT(refusal(file_of("ok\nt\x01 key\n")), HasSubstr(":2:"));
}

}  // namespace
}  // namespace trireme::server
