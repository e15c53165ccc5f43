#include "runtime/encoder/encoder_service.h"

#include <gtest/gtest.h>

#include "tests/runtime/encoder/encoder_golden.h"

namespace trireme::encoder {
namespace {

std::unique_ptr<TextEncoder> open_encoder() {
  return TextEncoder::open(test::golden_model("bert-classifier"), {.weights = kernels::WeightFormat::kF32}).value();
}

TEST(EncoderService, AnswersManyThreadsAtOnce) {
  EncoderService service(open_encoder(), 1000);
  const auto cases = test::encoder_cases();
  std::vector<std::thread> threads;
  for (const test::EncoderCase& golden : cases) {
    threads.emplace_back([&service, &golden] {
      for (int i = 0; i < 5; ++i) {
        auto answer = service.classify(golden.text);
        ASSERT_TRUE(answer.ok());
        const auto scores = answer->get();
        ASSERT_TRUE(scores.ok()) << scores.error().message;
        EXPECT_NEAR(scores->probabilities[0], golden.probabilities[0], 1e-3f) << golden.text;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(EncoderService, ABadTextFailsAloneAndAFullQueueRefusesAtOnce) {
  EncoderService service(open_encoder(), 2);
  auto bad = service.classify("\xff");
  auto good = service.classify("fine");
  ASSERT_TRUE(bad.ok());
  EXPECT_FALSE(bad->get().ok());
  if (good) {
    EXPECT_TRUE(good->get().ok());
  }
  EncoderService closed(open_encoder(), 0);
  const auto refused = closed.classify("any");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace trireme::encoder
