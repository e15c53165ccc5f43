#include "launch/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "launch/exit_codes.h"

namespace trireme::launch {
namespace {

using testing::HasSubstr;

CommandFunction define_greet(CLI::App& app) {
  const auto times = std::make_shared<int>(1);
  app.add_option("--times", *times, "how often");
  return [times](const CommandContext&) { return *times; };
}

std::variant<CommandLine, Answer> parse(std::vector<const char*> arguments) {
  const std::vector<Command> commands = {{"greet", "say hello", define_greet}, {"part", "say goodbye", define_greet}};
  arguments.insert(arguments.begin(), "trireme");
  return parse_command_line(commands, arguments);
}

CommandLine parsed(std::vector<const char*> arguments) {
  auto result = parse(std::move(arguments));
  if (const auto* answer = std::get_if<Answer>(&result)) {
    ADD_FAILURE() << answer->error << answer->output;
    return {};
  }
  return std::get<CommandLine>(result);
}

Answer answered(std::vector<const char*> arguments) {
  const auto result = parse(std::move(arguments));
  if (const auto* answer = std::get_if<Answer>(&result)) return *answer;
  ADD_FAILURE() << "was accepted";
  return {};
}

TEST(CommandLine, CollectsSettingsUnderBothSpellings) {
  const CommandLine line = parsed({"greet", "--threads", "4", "--kv_cache.memory_bytes=2GiB", "--split", "10,20"});
  ASSERT_EQ(line.overrides.size(), 3u);
  config::ConfigSources sources{{}, {}, line.overrides};
  const auto config = config::load(sources);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->config.device.threads, 4);
  EXPECT_EQ(config->config.kv_cache.memory_bytes, std::int64_t{2} << 30);
  EXPECT_THAT(config->config.pipeline.split, testing::ElementsAre(10, 20));
}

TEST(CommandLine, CollectsEveryAdapter) {
  const CommandLine line = parsed({"greet", "--adapter", "a=one", "--adapter", "b=two,c=three"});
  const auto config = config::load({{}, {}, line.overrides});
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_THAT(
      config->config.model.adapters,
      testing::ElementsAre(config::Adapter{"a", "one"}, config::Adapter{"b", "two"}, config::Adapter{"c", "three"}));
}

TEST(CommandLine, KeepsTheLastOfRepeatedSettings) {
  const CommandLine line = parsed({"greet", "--threads", "4", "--device.threads", "5"});
  EXPECT_EQ(config::load({{}, {}, line.overrides})->config.device.threads, 5);
}

TEST(CommandLine, ChoosesTheCommandAndItsOptions) {
  const CommandLine line = parsed({"greet", "--times", "3", "--config", "a.yaml"});
  EXPECT_EQ(line.command_name, "greet");
  EXPECT_EQ(line.config_path, "a.yaml");
  EXPECT_FALSE(line.print_config);
  ASSERT_TRUE(line.run);
}

TEST(CommandLine, PrintsTheConfigurationWithAndWithoutACommand) {
  EXPECT_TRUE(parsed({"greet", "--print-config"}).print_config);
  const CommandLine alone = parsed({"--threads", "2", "--print-config"});
  EXPECT_TRUE(alone.print_config);
  EXPECT_FALSE(alone.run);
  EXPECT_EQ(alone.overrides.size(), 1u);
}

TEST(CommandLine, AnswersHelpAndVersion) {
  const Answer version = answered({"--version"});
  EXPECT_EQ(version.exit_code, kSuccess);
  EXPECT_THAT(version.output, testing::MatchesRegex("trireme [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(answered({"--help"}).output, testing::AllOf(HasSubstr("greet"), HasSubstr("say hello")));
  EXPECT_THAT(answered({"greet", "--help"}).output, testing::AllOf(HasSubstr("--times"), HasSubstr("--kv-memory")));
}

TEST(CommandLine, NamesTheNearestKnownOptionOrCommand) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> cases = {
      {{"greet", "--thread", "4"}, "trireme greet: unknown option '--thread' (did you mean '--threads')"},
      {{"greet", "--tmies=4"}, "trireme greet: unknown option '--tmies' (did you mean '--times')"},
      {{"greet", "--xyzzy"}, "trireme greet: unknown option '--xyzzy'; see"},
      {{"gret"}, "trireme: unknown command 'gret' (did you mean 'greet')"},
      {{"--thread", "4", "greet"}, "trireme: unknown option '--thread'"},
      {{"greet", "hello"}, "trireme greet: unexpected argument 'hello'"},
      {{"greet", "--times", "many"}, "trireme greet: "},
      {{"greet", "--threads"}, "trireme greet: --threads"},
      {{}, "trireme: a command is needed"},
  };
  for (const auto& [arguments, message] : cases) {
    const Answer answer = answered(arguments);
    EXPECT_EQ(answer.exit_code, kUsage) << message;
    EXPECT_EQ(answer.output, "") << message;
    EXPECT_THAT(answer.error, testing::StartsWith(message));
    EXPECT_EQ(std::count(answer.error.begin(), answer.error.end(), '\n'), 1) << answer.error;
  }
}

TEST(CommandLine, TakesNegativeNumbersAsValues) {
  const CommandLine line = parsed({"greet", "--reserve", "-0.1"});
  EXPECT_EQ(config::load({{}, {}, line.overrides}).error().message,
            "--reserve: kv_cache.reserve '-0.1': must be 0 to 0.95");
}

}  // namespace
}  // namespace trireme::launch
