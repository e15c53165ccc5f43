#include "launch/request_spec.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace trireme::launch {
namespace {

class RequestBinderTest : public testing::Test {
 protected:
  base::Result<scheduler::Request> bind(RequestSpec spec) { return binder_.bind(std::move(spec)); }
  static RequestSpec ids(std::vector<std::int32_t> prompt) {
    RequestSpec spec;
    spec.prompt = std::move(prompt);
    return spec;
  }
  static void expect_named(const base::Result<scheduler::Request>& request, const std::string& part) {
    ASSERT_FALSE(request.ok());
    EXPECT_NE(request.error().message.find(part), std::string::npos) << request.error().message;
  }

  const std::unique_ptr<checkpoint::Checkpoint> checkpoint_ =
      checkpoint::Checkpoint::open(test::golden_model("llama")).value();
  const std::unique_ptr<tokenizer::Tokenizer> tokenizer_ = tokenizer::Tokenizer::from_checkpoint(*checkpoint_).value();
  const RequestBinder binder_{*checkpoint_, *tokenizer_, 512, 100, {}};
};

TEST_F(RequestBinderTest, TokensOutsideTheVocabularyAreRefusedByName) {
  for (const std::int32_t id : {-1, 512}) {
    const std::string name = "token " + std::to_string(id) + " of the ";
    expect_named(bind(ids({1, id})), name + "prompt");
    RequestSpec stop = ids({1});
    stop.stop_token_ids = {id};
    expect_named(bind(stop), name + "stop_token_ids");
    RequestSpec bias = ids({1});
    bias.sampling.logit_bias = {{id, 1.0f}};
    expect_named(bind(bias), name + "logit_bias");
  }
  EXPECT_FALSE(bind(ids({})).ok());
  EXPECT_TRUE(bind(ids({1, 511})).ok());
}

TEST_F(RequestBinderTest, TheModelsEndsStopUnlessTheyAreIgnored) {
  RequestSpec spec = ids({1});
  spec.stop_token_ids = {7};
  const auto with_ends = bind(spec);
  EXPECT_EQ(with_ends->stop_token_ids.size(), 1 + tokenizer_->end_of_generation().size());
  spec.ignore_eos = true;
  EXPECT_EQ(bind(spec)->stop_token_ids, (std::vector<std::int32_t>{7}));
}

TEST_F(RequestBinderTest, WithoutALimitTheContextIsTheLimit) {
  EXPECT_EQ(bind(ids({1}))->max_tokens, 100);
  RequestSpec spec = ids({1});
  spec.max_tokens = 0;
  EXPECT_EQ(bind(spec)->max_tokens, 0);
}

TEST_F(RequestBinderTest, AnAdapterIsFoundByItsName) {
  const RequestBinder binder(*checkpoint_, *tokenizer_, 512, 100, {{"plain", "x"}, {"fancy", "y"}});
  RequestSpec spec = ids({1});
  EXPECT_EQ(binder.bind(spec)->adapter, 0u);
  spec.adapter = "fancy";
  EXPECT_EQ(binder.bind(spec)->adapter, 2u);
  spec.adapter = "other";
  expect_named(binder.bind(spec), "plain, fancy");
}

TEST_F(RequestBinderTest, TextThatIsNotUtf8AndMissingTemplatesAreRefused) {
  RequestSpec spec;
  spec.prompt = std::string("\xff");
  EXPECT_FALSE(bind(spec).ok());
  spec.prompt = std::vector<ChatMessage>{{"user", "hello"}};
  expect_named(bind(spec), "chat template");
}

}  // namespace
}  // namespace trireme::launch
