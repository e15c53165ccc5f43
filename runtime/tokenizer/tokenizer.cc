#include "runtime/tokenizer/tokenizer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "runtime/tokenizer/loaders.h"

namespace trireme::tokenizer {
namespace {

namespace fs = std::filesystem;

base::Result<std::unique_ptr<Tokenizer>> assemble(base::Result<TokenizerParts> parts) {
  if (!parts) return parts.error();
  return std::unique_ptr<Tokenizer>(std::make_unique<PipelineTokenizer>(std::move(*parts)));
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

base::Result<std::unique_ptr<Tokenizer>> Tokenizer::from_checkpoint(const checkpoint::Checkpoint& checkpoint) {
  if (checkpoint.format() != checkpoint::Format::kGguf) {
    TRIREME_CHECK(checkpoint.side_files() != nullptr);
    return assemble(load_hugging_face_tokenizer(*checkpoint.side_files(), checkpoint.metadata()));
  }
  TRIREME_CHECK(checkpoint.gguf() != nullptr);
  base::Result<TokenizerParts> parts = load_gguf_tokenizer(*checkpoint.gguf());
  if (!parts) return base::Error{parts.error().code, checkpoint.path().string() + ": " + parts.error().message};
  return assemble(std::move(parts));
}

bool Tokenizer::is_without_model(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path.extension() == ".model" || path.extension() == ".json";
  return !is_there(path / "config.json") && (is_there(path / "tokenizer.json") || is_there(path / "tokenizer.model"));
}

base::Result<std::unique_ptr<Tokenizer>> Tokenizer::from_path(const fs::path& path) {
  if (path.extension() == ".model") return assemble(load_sentencepiece_model(path));
  if (path.extension() == ".json") return assemble(load_tokenizer_json(path));
  if (is_without_model(path)) return assemble(load_hugging_face_tokenizer(path, nlohmann::json::object()));
  auto opened = checkpoint::Checkpoint::open(path);
  if (!opened) return opened.error();
  return from_checkpoint(**opened);
}

}  // namespace trireme::tokenizer
