// SentencePiece models, by libsentencepiece: it normalises and cuts the text; the vocabulary is copied out of it.
#include <sentencepiece_processor.h>

#include <memory>
#include <string>
#include <utility>

#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/generation_ends.h"
#include "runtime/tokenizer/loaders.h"
#include "runtime/tokenizer/metaspace.h"
#include "runtime/tokenizer/sentencepiece_proto.h"
#include "runtime/tokenizer/tokenizer_json_file.h"

namespace trireme::tokenizer {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

class SentencePieceModel final : public WordModel {
 public:
  explicit SentencePieceModel(std::unique_ptr<Processor> processor) : processor_(std::move(processor)) {}

  std::string_view kind() const override { return "SentencePiece model"; }
  base::Status encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const override {
    std::vector<int> word_ids;
    for (const std::string_view word : words) {
      const auto status = processor_->Encode(word, &word_ids);
      if (!status.ok()) return base::invalid_argument("libsentencepiece: " + status.ToString());
      ids.insert(ids.end(), word_ids.begin(), word_ids.end());
    }
    return base::ok_status();
  }

 private:
  std::unique_ptr<Processor> processor_;
};

TokenKind kind_of(const Processor& processor, int id) {
  if (processor.IsControl(id) || processor.IsUnknown(id)) return TokenKind::kSpecial;
  if (processor.IsByte(id)) return TokenKind::kByte;
  return TokenKind::kNormal;  // user-defined ones too: the processor finds them in the text
}

base::Result<std::unique_ptr<Vocabulary>> copy_vocabulary(const Processor& processor) {
  auto vocabulary = std::make_unique<Vocabulary>();
  const auto size = static_cast<std::size_t>(processor.GetPieceSize());
  vocabulary->reserve(size, 8 * size);
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    const TokenKind kind = kind_of(processor, id);
    std::string piece = processor.IdToPiece(id);
    if (kind == TokenKind::kByte) {
      base::Result<std::string> byte = byte_of_token(piece);
      if (!byte) return byte.error();
      piece = std::move(*byte);
    }
    base::Status status = vocabulary->add(id, piece, kind);
    if (status && kind == TokenKind::kNormal) status = vocabulary->index(id);
    if (!status) return status.error();
  }
  return vocabulary;
}

std::optional<TokenId> optional_id(int id) {
  return id < 0 ? std::nullopt : std::optional<TokenId>(id);
}

base::Result<TokenizerParts> parts_of(const std::string& serialized) {
  if (const base::Status sound = check_sentencepiece_charsmaps(serialized); !sound) return sound.error();
  auto processor = std::make_unique<Processor>();
  const auto loaded = processor->LoadFromSerializedProto(serialized);
  if (!loaded.ok()) return base::invalid_argument("libsentencepiece: " + loaded.ToString());
  base::Result<std::unique_ptr<Vocabulary>> vocabulary = copy_vocabulary(*processor);
  if (!vocabulary) return vocabulary.error();
  // Whether the model puts a space before a text shows where it takes it away again.
  const std::string with_space = std::string(kMetaspace) + "a";
  const bool adds_space = processor->DecodePieces(std::vector<std::string>{with_space}) == "a";
  TokenizerParts parts;
  parts.vocabulary = std::move(*vocabulary);
  parts.added_tokens = added_tokens_of(*parts.vocabulary);
  parts.decoder = metaspace_decoder(adds_space);
  parts.bos = optional_id(processor->bos_id());
  parts.eos = optional_id(processor->eos_id());
  if (parts.bos) parts.prefix.push_back(*parts.bos);
  if (parts.eos) parts.end_of_generation.push_back(*parts.eos);
  complete_end_of_generation(*parts.vocabulary, parts.end_of_generation);
  parts.model = std::make_unique<SentencePieceModel>(std::move(processor));
  return parts;
}

}  // namespace

base::Result<TokenizerParts> parse_sentencepiece_model(const std::string& bytes) {
  return parts_of(bytes);
}

base::Result<TokenizerParts> load_sentencepiece_model(const std::filesystem::path& path) {
  const base::Result<std::string> serialized = read_tokenizer_file(path);
  if (!serialized) return serialized.error();
  base::Result<TokenizerParts> parts = parts_of(*serialized);
  if (!parts) return base::Error{parts.error().code, path.string() + ": " + parts.error().message};
  return parts;
}

}  // namespace trireme::tokenizer
