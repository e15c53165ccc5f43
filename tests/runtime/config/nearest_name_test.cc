#include "runtime/config/nearest_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trireme::config {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("threads", "threads"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("thread", "threads"), 1u);
  EXPECT_EQ(edit_distance("thraeds", "threads"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearestName, IsTheMostSimilarCandidateOrNothing) {
  const std::vector<std::string> names = {"chunk_bytes", "block_tokens", "key", "value"};
  EXPECT_EQ(nearest_name("chunk_byte", names), "chunk_bytes");
  EXPECT_EQ(nearest_name("blok_tokens", names), "block_tokens");
  EXPECT_EQ(nearest_name("temperature", names), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), names), "");
  EXPECT_EQ(did_you_mean("vlaue", names), " (did you mean 'value')");
  EXPECT_EQ(did_you_mean("temperature", names), "");
}

}  // namespace
}  // namespace trireme::config
