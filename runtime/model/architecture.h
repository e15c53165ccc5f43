// Architectures: each is one small file that turns a checkpoint's metadata into a ModelDescription. To add one, write
// architectures/<name>.cc and list it in architecture.cc.
#pragma once

#include <string_view>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/model/metadata_reader.h"
#include "runtime/model/model_description.h"

namespace trireme::model {

// Reads the metadata of `checkpoint` by the architecture that it names. Errors: unknown architecture (listing the
// known), missing or impossible settings.
base::Result<ModelDescription> describe_model(const checkpoint::Checkpoint& checkpoint);

// One entry of the table. `model_type` is Hugging Face's, `gguf_name` GGUF's general.architecture; empty, with a null
// function, where a format has no name of its own for it.
struct Architecture {
  std::string_view model_type;
  std::string_view gguf_name;
  ModelDescription (*from_hugging_face)(MetadataReader& config, const checkpoint::Checkpoint& checkpoint);
  ModelDescription (*from_gguf)(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint);
};

extern const Architecture kLlama;
extern const Architecture kMistral;
extern const Architecture kMixtral;
extern const Architecture kQwen2;
extern const Architecture kQwen3;
extern const Architecture kQwen3Moe;
extern const Architecture kPhi3;
extern const Architecture kOlmo2;
extern const Architecture kGemma2;
extern const Architecture kGemma3;
extern const Architecture kGpt2;
extern const Architecture kGptNeo;
extern const Architecture kGptNeoX;

}  // namespace trireme::model
