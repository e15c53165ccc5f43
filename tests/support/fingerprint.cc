#include "tests/support/fingerprint.h"

#include <bit>
#include <sstream>

namespace trireme::test {
namespace {

void add(std::ostringstream& text, float value) {
  text << std::hex << std::bit_cast<std::uint32_t>(value) << ' ';
}

void add(std::ostringstream& text, const std::vector<scheduler::TokenLogprob>& top) {
  for (const scheduler::TokenLogprob& entry : top) {
    text << std::dec << entry.token << ':';
    add(text, entry.logprob);
  }
}

}  // namespace

std::string fingerprint(const engine::Generation& generation) {
  std::ostringstream text;
  for (const scheduler::SampledToken& token : generation.tokens) {
    text << std::dec << token.token << '=';
    add(text, token.logprob);
    add(text, token.top);
  }
  text << '|';
  for (const float logprob : generation.prompt_logprobs) add(text, logprob);
  for (const auto& top : generation.prompt_top) add(text, top);
  text << '|' << engine::to_string(generation.finish_reason);
  return text.str();
}

std::vector<std::string> fingerprints(const std::vector<std::vector<engine::Generation>>& outputs) {
  std::vector<std::string> all;
  for (const auto& choices : outputs) {
    for (const engine::Generation& choice : choices) all.push_back(fingerprint(choice));
  }
  return all;
}

}  // namespace trireme::test
