// Tokenizer: text ↔ token ids, as the model's own tokenizer does it (BPE, Unigram, WordPiece), from tokenizer.json, a
// SentencePiece model or GGUF. Immutable after loading; any thread may use it. Time is linear in
// the length of the text (up to a logarithm), and stack use does not grow with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"

namespace trireme::tokenizer {

using TokenId = std::int32_t;

enum class SpecialTokens { kRecognise, kAsText };

struct EncodeOptions {
  SpecialTokens special = SpecialTokens::kRecognise;
  // BOS (and EOS) as the model's post-processor adds them; never a second BOS where the text begins with one.
  bool add_special = true;
  // Byte offsets, ascending, where what looks like a special token is text all the same (the content of a message).
  std::span<const std::size_t> literal_offsets = {};
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // From the files beside config.json (tokenizer.json, or else tokenizer.model), or from the GGUF file's keys. Errors
  // name the file and what is wrong.
  static base::Result<std::unique_ptr<Tokenizer>> from_checkpoint(const checkpoint::Checkpoint& checkpoint);
  // From a tokenizer.json, a SentencePiece model (*.model), a directory with one of them, or whatever Checkpoint opens.
  static base::Result<std::unique_ptr<Tokenizer>> from_path(const std::filesystem::path& path);
  // Whether `path` is one of these, but for what Checkpoint opens.
  static bool is_without_model(const std::filesystem::path& path);

  // Error: the text is not valid UTF-8.
  virtual base::Result<std::vector<TokenId>> encode(std::string_view text, EncodeOptions options = {}) const = 0;
  // The bytes of the whole text; a sequence of tokens can end within a character. Ids without a token
  // (holes, padding rows of the embedding) have no bytes.
  virtual std::string decode(std::span<const TokenId> tokens, bool skip_special = false) const = 0;
  // The bytes that this token adds to a text. `at_start`: SentencePiece-style decoders strip the first space.
  virtual std::string token_bytes(TokenId token, bool at_start = false) const = 0;
  // Whether a space comes between this token and the one after it, which neither of them has by itself.
  virtual bool ends_word(TokenId token) const = 0;

  virtual std::string_view kind() const = 0;  // "byte-level BPE", "Unigram", …
  virtual std::int32_t vocab_size() const = 0;
  virtual bool is_special(TokenId token) const = 0;
  // Byte offsets where encode() would recognise a special token in valid UTF-8.
  virtual std::vector<std::size_t> special_offsets(std::string_view text) const = 0;
  virtual std::optional<TokenId> token_id(std::string_view content) const = 0;  // of a whole token, special or not
  virtual std::optional<TokenId> bos() const = 0;
  virtual std::optional<TokenId> eos() const = 0;  // the one that is configured
  // All ids that end a generation: eos of the tokenizer's and generation's configuration, end-of-turn tokens.
  virtual const std::vector<TokenId>& end_of_generation() const = 0;
};

}  // namespace trireme::tokenizer
