#include "runtime/tokenizer/unigram.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

constexpr double kUnknownPenalty = 10;  // below the lowest score, as SentencePiece has it

}  // namespace

Unigram::Unigram(const Vocabulary& vocabulary, std::vector<double> scores, Options options)
    : vocabulary_(vocabulary),
      index_(vocabulary, vocabulary.text_tokens(), ""),
      scores_(std::move(scores)),
      options_(options) {
  const auto lowest = std::min_element(scores_.begin(), scores_.end());
  unknown_score_ = (lowest == scores_.end() ? 0 : *lowest) - kUnknownPenalty;
}

base::Status Unigram::encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const {
  std::vector<Path> paths;
  std::vector<std::pair<std::string_view, TokenId>> pieces;
  for (const std::string_view word : words) {
    search(word, paths);
    pieces.clear();
    for (std::size_t end = word.size(); end > 0;) {
      const Path& path = paths[end];
      const std::size_t begin = end - path.last_bytes;
      // A run of unknown characters is one piece.
      if (path.last == kNoToken && !pieces.empty() && pieces.back().second == kNoToken) {
        pieces.back().first = word.substr(begin, path.last_bytes + pieces.back().first.size());
      } else {
        pieces.emplace_back(word.substr(begin, path.last_bytes), path.last);
      }
      end = begin;
    }
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      const base::Status status = append(piece->first, piece->second, ids);
      if (!status) return status;
    }
  }
  return base::ok_status();
}

void Unigram::search(std::string_view word, std::vector<Path>& paths) const {
  paths.assign(word.size() + 1, Path{});
  const auto consider = [&](std::size_t end, const Path& path) {
    if (paths[end].last_bytes == 0 || path.score > paths[end].score) paths[end] = path;
  };
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t character_bytes = first_character(word.substr(begin)).bytes;
    const double score = paths[begin].score;
    bool covered = false;
    index_.find_prefixes(word.substr(begin), [&](TokenId token, std::size_t length) {
      covered = covered || length == character_bytes;
      consider(begin + length,
               {score + scores_[static_cast<std::size_t>(token)], static_cast<std::uint32_t>(length), token});
    });
    if (!covered) {
      consider(begin + character_bytes,
               {score + unknown_score_, static_cast<std::uint32_t>(character_bytes), kNoToken});
    }
    begin += character_bytes;
  }
}

base::Status Unigram::append(std::string_view piece, TokenId token, std::vector<TokenId>& ids) const {
  if (token == kNoToken) token = vocabulary_.find_text(piece).value_or(kNoToken);
  if (token != kNoToken) {
    ids.push_back(token);
  } else if (!append_bytes(piece, options_.byte_ids, ids)) {
    if (!options_.unknown) return base::invalid_argument("the tokenizer has no token for a part of the text");
    ids.push_back(*options_.unknown);
  }
  return base::ok_status();
}

}  // namespace trireme::tokenizer
