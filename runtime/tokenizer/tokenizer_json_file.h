// Reads tokenizer.json. The vocabulary and the merges, which are nearly all of it, go into plain lists while the file
// is parsed; the rest becomes a JSON value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trireme::tokenizer {

struct TokenizerJson {
  nlohmann::json rest;                                       // without model.vocab and model.merges
  std::vector<std::pair<std::string, std::int32_t>> vocab;   // of a vocabulary that is an object: token and id
  std::vector<std::pair<std::string, double>> scored_vocab;  // of one that is a list: token and score, by id
  std::vector<std::pair<std::string, std::string>> merges;
};

base::Result<TokenizerJson> parse_tokenizer_json(const std::string& text);

// The whole file. kNotFound where it does not exist, and an error where it is larger than any tokenizer.
base::Result<std::string> read_tokenizer_file(const std::filesystem::path& path);
// The text of a small JSON file: an object. The error begins with `file`.
base::Result<nlohmann::json> parse_json_object(const std::string& text, const std::string& file);

}  // namespace trireme::tokenizer
