#include "launch/generate_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace trireme::launch {
namespace {

class GenerateOptionsTest : public testing::Test {
 protected:
  base::Status parse(const std::string& arguments) {
    options_ = {};
    CLI::App app;
    add_generate_options(app, options_);
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError& error) {
      return base::invalid_argument(error.what());
    }
    return check_generate_options(options_);
  }
  GenerateOptions options_;
};

TEST_F(GenerateOptionsTest, ReadsEveryOption) {
  const auto status = parse(
      "--prompt-ids 1,2,3 --max-tokens 7 --temperature 0.5 --top-k 40 --top-p 0.9 --min-p 0.05 --repetition-penalty "
      "1.1 "
      "--seed 18446744073709551615 --stop a --stop b --ignore-eos --logprobs 3 --prompt-logprobs --n 2 --json");
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(options_.prompt_ids, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(options_.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options_.sampling.seed, 18446744073709551615u);
  EXPECT_EQ(options_.sampling.top_k, 40);
  EXPECT_EQ(options_.sampling.num_logprobs, 3);
  EXPECT_EQ(options_.num_choices, 2);
}

TEST_F(GenerateOptionsTest, RefusesWhatIsOutOfRange) {
  for (const char* bad :
       {"--max-tokens -1", "--max-tokens 4294967296", "--max-tokens 3.9", "--temperature -1", "--temperature nan",
        "--top-p 0", "--top-p 1.1", "--top-k -1", "--min-p 2", "--repetition-penalty 0", "--n 0", "--n 1000000",
        "--seed -1", "--logprobs -2", "--stop ''"}) {
    EXPECT_FALSE(parse(std::string("--prompt x --json ") + bad).ok()) << bad;
  }
}

TEST_F(GenerateOptionsTest, RefusesContradictions) {
  for (const char* bad : {"", "--prompt x --prompt-ids 1", "--chat --prompt-ids 1", "--chat --json", "--chat --n 2",
                          "--prompt x --system y", "--prompt x --prompt-logprobs"}) {
    EXPECT_FALSE(parse(bad).ok()) << bad;
  }
  EXPECT_TRUE(parse("--chat").ok());
}

}  // namespace
}  // namespace trireme::launch
