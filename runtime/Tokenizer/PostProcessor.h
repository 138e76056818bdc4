//===- PostProcessor.h - Tokens around a text -------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_POSTPROCESSOR_H
#define TENON_RUNTIME_TOKENIZER_POSTPROCESSOR_H

#include "runtime/Support/Json.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tenon::tokenizer {

/// Puts special tokens around the ids of one text. All kinds come down to
/// templates: what comes before, between and after the text's ids.
class PostProcessor {
public:
  /// Reads the object `Field`, whose "type" is one of TemplateProcessing,
  /// BertProcessing, RobertaProcessing, ByteLevel (which changes no ids),
  /// Sequence. Only templates for single texts are used. An error for any other
  /// type or option, and for an id that is no token: `IsToken` says so.
  static Result<PostProcessor>
  fromJson(const JsonField &Field, const std::function<bool(int32_t)> &IsToken);

  /// How many ids apply() adds.
  size_t added() const;

  /// The ids with special tokens around them, or without if `!AddSpecial`.
  std::vector<int32_t> apply(std::vector<int32_t> Ids, bool AddSpecial) const;

private:
  struct Item {
    bool IsText = false;
    std::vector<int32_t> Ids;
  };
  using Template = std::vector<Item>;

  static Result<Template> readTemplate(const JsonField &Field);
  static Result<Template> readPair(const JsonField &Field, bool IsRoberta);

  /// Applied in order, each to what the one before made.
  std::vector<Template> Templates;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_POSTPROCESSOR_H
