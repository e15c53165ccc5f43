#include "launch/server/core/dialogue_table.h"

#include <gtest/gtest.h>

namespace trireme::server {
namespace {

using std::chrono::milliseconds;
constexpr DialogueTable::TimePoint kStart{};

TEST(DialogueTableTest, ADialogueBelongsToItsTenant) {
  DialogueTable table({});
  const auto id = table.begin("a", kStart);
  ASSERT_TRUE(id.ok());
  EXPECT_TRUE(table.use("a", *id, kStart).ok());
  EXPECT_FALSE(table.use("b", *id, kStart).ok());
  EXPECT_FALSE(table.end("b", *id).ok());
  EXPECT_TRUE(table.end("a", *id).ok());
  EXPECT_FALSE(table.use("a", *id, kStart).ok());
}

TEST(DialogueTableTest, TellsTheScopesOfThoseThatEnded) {
  DialogueTable table({});
  const auto id = table.begin("a", kStart);
  const auto scope = table.use("a", *id, kStart);
  EXPECT_TRUE(table.take_ended(kStart).empty());
  ASSERT_TRUE(table.end("a", *id).ok());
  EXPECT_EQ(table.take_ended(kStart), std::vector{*scope});
  EXPECT_FALSE(table.release(*scope, kStart)) << "it ended while it was in use";
  EXPECT_TRUE(table.take_ended(kStart).empty());
}

TEST(DialogueTableTest, ExpiresWhatIsIdleButNotWhatIsInUse) {
  DialogueTable table({.max_idle = milliseconds(1000)});
  const auto idle = table.begin("", kStart), used = table.begin("", kStart);
  const auto scope = table.use("", *used, kStart);
  EXPECT_EQ(table.take_ended(kStart + milliseconds(1001)).size(), 1u);
  EXPECT_FALSE(table.use("", *idle, kStart + milliseconds(1001)).ok());
  EXPECT_TRUE(table.release(*scope, kStart + milliseconds(5000)));
  EXPECT_TRUE(table.take_ended(kStart + milliseconds(5900)).empty());
  EXPECT_EQ(table.take_ended(kStart + milliseconds(6100)), std::vector{*scope});
  EXPECT_EQ(table.size(), 0u);
}

TEST(DialogueTableTest, RefusesMoreThanItsLimit) {
  DialogueTable table({.max_dialogues = 2});
  EXPECT_TRUE(table.begin("", kStart).ok());
  EXPECT_TRUE(table.begin("", kStart).ok());
  const auto refused = table.begin("", kStart);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace trireme::server
