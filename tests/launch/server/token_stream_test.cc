#include "launch/server/core/token_stream.h"

#include <gtest/gtest.h>

namespace trireme::server {
namespace {

EventPtr event_of(const std::string& text) {
  engine::GenerationEvent event;
  event.text = text;
  return std::make_shared<const engine::GenerationEvent>(std::move(event));
}

TEST(TokenStreamTest, GivesEventsInOrderAndThenTheEnd) {
  TokenStream stream(1 << 20, {});
  stream.push(event_of("a"));
  stream.push(event_of("b"));
  stream.finish({});
  const TokenStream::Batch batch = stream.take();
  ASSERT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.events[0]->text + batch.events[1]->text, "ab");
  ASSERT_TRUE(batch.end);
  EXPECT_EQ(batch.end->kind, StreamEnd::Kind::kComplete);
}

TEST(TokenStreamTest, CallsTheReaderOnceForEachTimeItFoundNothing) {
  int calls = 0;
  TokenStream stream(1 << 20, [&] { ++calls; });
  stream.push(event_of("a"));
  EXPECT_EQ(calls, 0) << "the reader has not asked yet";
  stream.take();
  EXPECT_TRUE(stream.take().events.empty());
  stream.push(event_of("b"));
  stream.push(event_of("c"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(stream.take().events.size(), 2u);
  stream.finish({});
  EXPECT_EQ(calls, 1) << "take() found something, so the reader will look again by itself";
}

TEST(TokenStreamTest, EndsWhenItsReaderLeavesTooMuch) {
  TokenStream stream(2000, {});
  EXPECT_TRUE(stream.push(event_of(std::string(5000, 'x')))) << "one event is always taken";
  EXPECT_FALSE(stream.push(event_of("y")));
  EXPECT_FALSE(stream.push(event_of("z")));
  const TokenStream::Batch batch = stream.take();
  ASSERT_TRUE(batch.end);
  EXPECT_EQ(batch.end->kind, StreamEnd::Kind::kTooSlow);
  EXPECT_TRUE(batch.events.empty()) << "memory is given back at once";
}

TEST(TokenStreamTest, TakesAnyNumberOfEventsFromAReaderThatKeepsUp) {
  TokenStream stream(2000, {});
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(stream.push(event_of(std::string(100, 'x'))));
    ASSERT_EQ(stream.take().events.size(), 1u);
  }
}

}  // namespace
}  // namespace trireme::server
