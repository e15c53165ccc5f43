// trireme generate: continues a prompt, or answers in a chat.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/generate_options.h"
#include "launch/generation_output.h"
#include "launch/generation_run.h"
#include "launch/log.h"
#include "launch/refusal.h"
#include "launch/request_spec.h"
#include "launch/session.h"

namespace trireme::launch {
namespace {

// Prints text as it comes; of several choices only at the end, or they would mix.
void stream(const engine::GenerationEvent& event) {
  std::cout << event.text << std::flush;
}

void print_choices(const std::vector<engine::Generation>& choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    std::cout << "--- " << i + 1 << " of " << choices.size() << " ---\n" << choices[i].text << "\n";
  }
}

int generate_once(const CommandContext& context, engine::RankRuntime& runtime, const GenerateOptions& options) {
  const auto request = RequestBinder(runtime).bind(request_spec(options));
  if (!request) return refuse(context, request.error());
  const bool streams = !options.json && options.num_choices == 1;
  const auto run = run_generation(
      runtime, *request, streams ? stream : [](const engine::GenerationEvent&) {});
  if (!run) return refuse(context, run.error());
  if (options.json) {
    std::cout << generation_json(*request, run->choices, run->timing) << std::endl;
    return kSuccess;
  }
  if (streams)
    std::cout << std::endl;
  else
    print_choices(run->choices);
  context.log.info(generation_summary(*request, run->choices, run->timing));
  return kSuccess;
}

// One turn per line of standard input, until its end.
int converse(const CommandContext& context, engine::RankRuntime& runtime, const GenerateOptions& options) {
  const RequestBinder binder(runtime);
  if (!binder.chat()) return refuse(context, binder.chat().error());
  RequestSpec spec = request_spec(options);
  std::vector<ChatMessage> messages = first_messages(options);
  const bool interactive = ::isatty(STDIN_FILENO) != 0;
  context.log.info("one turn per line; the end of the input ends the conversation");
  std::string line;
  while (true) {
    if (interactive) std::cout << "> " << std::flush;
    if (!std::getline(std::cin, line)) break;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    messages.push_back({"user", line});
    spec.prompt = messages;
    const auto request = binder.bind(spec);
    if (!request) return refuse(context, request.error());
    const auto run = run_generation(runtime, *request, stream);
    if (!run) {
      context.log.error("the conversation is too long, so it ends here: " + run.error().message);
      return exit_code_of(run.error());
    }
    std::cout << std::endl;
    messages.push_back({"assistant", run->choices.front().text});
  }
  return kSuccess;
}

}  // namespace

CommandFunction define_generate(CLI::App& app) {
  const auto options = std::make_shared<GenerateOptions>();
  add_generate_options(app, *options);
  return [options](const CommandContext& context) {
    if (const auto status = check_generate_options(*options); !status) {
      return refuse(context, status.error());
    }
    return run_session(context, [&](engine::RankRuntime& runtime) {
      const bool conversation = options->chat && !options->prompt;
      return conversation ? converse(context, runtime, *options) : generate_once(context, runtime, *options);
    });
  };
}

}  // namespace trireme::launch
