// trireme tokenize: text → token ids, or with --ids token ids → text. Rank 0 alone works; other ranks end at once.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/text_input.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::launch {
namespace {

using tokenizer::TokenId;
using tokenizer::Tokenizer;

struct TokenizeOptions {
  std::optional<std::string> text;
  std::string file;
  std::vector<TokenId> ids;
  bool decode = false;
  bool special_as_text = false;
  bool no_special = false;
  bool json = false;
};

base::Status check_ids(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  for (const TokenId id : ids) {
    if (id >= 0 && id < tokenizer.vocab_size()) continue;
    return base::invalid_argument("--ids: " + std::to_string(id) + " is no token; the vocabulary has " +
                                  std::to_string(tokenizer.vocab_size()));
  }
  return base::ok_status();
}

// Bytes that are no UTF-8 (half a character at an end) are shown as U+FFFD in JSON.
std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void print_ids(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, bool json) {
  if (json) {
    nlohmann::json pieces = nlohmann::json::array();
    for (const TokenId id : ids) pieces.push_back(tokenizer.token_bytes(id));
    std::cout << dump({{"token_ids", ids}, {"tokens", pieces}, {"count", ids.size()}}) << "\n";
    return;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) std::cout << (i == 0 ? "" : " ") << ids[i];
  std::cout << "\n";
}

base::Status decode(const Tokenizer& tokenizer, const TokenizeOptions& options) {
  if (const base::Status status = check_ids(tokenizer, options.ids); !status) return status;
  const std::string text = tokenizer.decode(options.ids, options.no_special);
  std::cout << (options.json ? dump({{"text", text}, {"count", options.ids.size()}}) : text) << "\n";
  return base::ok_status();
}

base::Status encode(const Tokenizer& tokenizer, const TokenizeOptions& options) {
  base::Result<std::string> text = options.text ? *options.text : read_text(options.file);
  if (!text) return text.error();
  const base::Result<std::vector<TokenId>> ids = tokenizer.encode(
      *text,
      {.special = options.special_as_text ? tokenizer::SpecialTokens::kAsText : tokenizer::SpecialTokens::kRecognise,
       .add_special = !options.no_special});
  if (!ids) return ids.error();
  print_ids(tokenizer, *ids, options.json);
  return base::ok_status();
}

int run_tokenize(const TokenizeOptions& options, const CommandContext& context) {
  if (!context.is_root()) return kSuccess;
  const std::string& model = context.config.config.model.path;
  if (model.empty()) {
    context.log.error("tokenize: --model is needed");
    return kUsage;
  }
  const auto tokenizer = Tokenizer::from_path(model);
  if (!tokenizer) {
    context.log.error(tokenizer.error().message);
    return kFailure;
  }
  const base::Status status = options.decode ? decode(**tokenizer, options) : encode(**tokenizer, options);
  if (!status) context.log.error(status.error().message);
  return status ? kSuccess : kUsage;
}

}  // namespace

CommandFunction define_tokenize(CLI::App& app) {
  const auto options = std::make_shared<TokenizeOptions>();
  CLI::Option* text = app.add_option("--text", options->text, "text to encode; without it and --file: standard input");
  CLI::Option* file =
      app.add_option("--file", options->file, "file to encode; - for standard input")->type_name("FILE");
  app.add_option("--ids", options->ids, "token ids to decode, with commas between")
      ->delimiter(',')
      ->type_name("ID,…")
      ->each([options](const std::string&) { options->decode = true; })
      ->excludes(text)
      ->excludes(file);
  text->excludes(file);
  app.add_flag("--special-as-text", options->special_as_text, "read special tokens in the text as plain text");
  app.add_flag("--no-special", options->no_special, "encode without BOS and EOS; decode without special tokens");
  app.add_flag("--json", options->json, "print one JSON object");
  return [options](const CommandContext& context) { return run_tokenize(*options, context); };
}

}  // namespace trireme::launch
