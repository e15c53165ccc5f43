#include "launch/server/core/response_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace trireme::server {
namespace {

Answer answer_of(const std::string& text) {
  engine::GenerationEvent event;
  event.text = text;
  return {std::make_shared<const engine::GenerationEvent>(std::move(event))};
}

TEST(ResponseCacheTest, FindsAnAnswerAndCountsIt) {
  ResponseCache cache({});
  EXPECT_EQ(cache.find("k"), nullptr);
  cache.insert("k", answer_of("yes"));
  const auto found = cache.find("k");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->front()->text, "yes");
  EXPECT_EQ(cache.counts().queries, 2);
  EXPECT_EQ(cache.counts().hits, 1);
}

TEST(ResponseCacheTest, DropsTheLeastRecentlyUsedAnswer) {
  ResponseCache cache({.max_entries = 2});
  cache.insert("a", answer_of("1"));
  cache.insert("b", answer_of("2"));
  cache.find("a");
  cache.insert("c", answer_of("3"));
  EXPECT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_NE(cache.find("c"), nullptr);
}

TEST(ResponseCacheTest, KeepsToItsBytes) {
  ResponseCache cache({.max_entries = 1000, .max_bytes = 10'000});
  for (int i = 0; i < 100; ++i) {
    cache.insert(std::to_string(i), answer_of(std::string(1000, 'x')));
    EXPECT_LE(cache.counts().bytes, 10'000u);
  }
  cache.insert("huge", answer_of(std::string(20'000, 'x')));
  EXPECT_EQ(cache.find("huge"), nullptr);
  EXPECT_NE(cache.find("99"), nullptr);
}

TEST(ResponseCacheTest, AnAnswerOutlivesItsEviction) {
  ResponseCache cache({.max_entries = 1});
  cache.insert("a", answer_of("1"));
  const auto held = cache.find("a");
  cache.insert("b", answer_of("2"));
  EXPECT_EQ(held->front()->text, "1");
}

TEST(ResponseCacheTest, KeysDifferInWhateverChangesTheAnswer) {
  scheduler::Request base;
  base.prompt = {1, 2, 3};
  std::set<std::string> keys{ResponseCache::key_of(base)};
  const auto differs = [&](auto change) {
    scheduler::Request changed = base;
    change(changed);
    return keys.insert(ResponseCache::key_of(changed)).second;
  };
  EXPECT_FALSE(differs([](auto& request) { request.id = scheduler::RequestId(7); }));
  EXPECT_FALSE(differs([](auto& request) { request.priority = 3; }));
  EXPECT_TRUE(differs([](auto& request) { request.tenant = "other"; }));
  EXPECT_TRUE(differs([](auto& request) { request.cache_scope = "scope"; }));
  EXPECT_TRUE(differs([](auto& request) { request.prompt = {1, 2}; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.temperature = 1.0f; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.top_k = 3; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.top_p = 0.5f; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.min_p = 0.5f; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.repetition_penalty = 1.5f; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.presence_penalty = 0.5f; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.frequency_penalty = 0.5f; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.logit_bias = {{1, 2.0f}}; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.seed = 9; }));
  EXPECT_TRUE(differs([](auto& request) { request.sampling.num_logprobs = 2; }));
  EXPECT_TRUE(differs([](auto& request) { request.max_tokens = 17; }));
  EXPECT_TRUE(differs([](auto& request) { request.min_tokens = 1; }));
  EXPECT_TRUE(differs([](auto& request) { request.num_choices = 2; }));
  EXPECT_TRUE(differs([](auto& request) { request.stop_token_ids = {5}; }));
  EXPECT_TRUE(differs([](auto& request) { request.stop = {"a"}; }));
  EXPECT_TRUE(differs([](auto& request) { request.stop = {"", "a"}; }));
  EXPECT_TRUE(differs([](auto& request) { request.prompt_logprobs = true; }));
}

}  // namespace
}  // namespace trireme::server
