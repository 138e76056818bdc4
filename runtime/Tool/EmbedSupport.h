//===- EmbedSupport.h - What tenon embed shares between its files *- C++ -*-==//

#ifndef TENON_RUNTIME_TOOL_EMBEDSUPPORT_H
#define TENON_RUNTIME_TOOL_EMBEDSUPPORT_H

#include "runtime/Engine/Session.h"
#include "runtime/Tool/Commands.h"

#include <memory>

namespace tenon::tool {

/// A model that embeds texts.
struct EmbeddingModel {
  std::shared_ptr<const engine::Model> Code;
  const tokenizer::Tokenizer *Text;
  int64_t Width; ///< Of an embedding.

  /// An error when the artifact embeds nothing or has no tokenizer.
  static Result<EmbeddingModel> load(const std::string &File);
};

/// An error when there is no embedding, or one with NaN or an infinity.
Status checkEmbedding(const engine::ItemResult &Answer, const engine::Model &M);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_EMBEDSUPPORT_H
