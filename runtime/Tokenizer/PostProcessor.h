//===- PostProcessor.h - Tokens around a text -------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_POSTPROCESSOR_H
#define TENON_RUNTIME_TOKENIZER_POSTPROCESSOR_H

#include "runtime/Support/Json.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tenon::tokenizer {

/// Puts special tokens around the ids of one text, or of two. All kinds come
/// down to templates: what comes before, between and after the texts' ids.
class PostProcessor {
public:
  /// Reads the object `Field`, whose "type" is one of TemplateProcessing,
  /// BertProcessing, RobertaProcessing, ByteLevel (which changes no ids),
  /// Sequence. An error for any other type or option, and for an id that is no
  /// token: `IsToken` says so.
  static Result<PostProcessor>
  fromJson(const JsonField &Field, const std::function<bool(int32_t)> &IsToken);

  /// How many ids apply() adds.
  size_t added() const;
  /// The same of applyToPair(). An error for processors that say nothing of
  /// pairs.
  Result<size_t> addedToPair() const;

  /// The ids with special tokens around them, or without if `!AddSpecial`.
  std::vector<int32_t> apply(std::vector<int32_t> Ids, bool AddSpecial) const;

  /// The ids of two texts as one. Only where addedToPair() is no error.
  EncodedPair applyToPair(const std::vector<int32_t> &First,
                          const std::vector<int32_t> &Second,
                          bool AddSpecial) const;

private:
  struct Item {
    enum Kind { Special, First, Second } From = Special;
    std::vector<int32_t> Ids = {}; ///< Of a special token.
    int32_t Type = 0;
  };
  using Items = std::vector<Item>;
  struct Template {
    Items Single;
    std::optional<Items> Pair;
  };

  static Result<Items> readItems(const JsonField &Field, const char *Key,
                                 const JsonField &Specials, bool IsPair);
  static Result<Template> readTemplate(const JsonField &Field);
  static Result<Template> readFrame(const JsonField &Field, bool IsRoberta);
  /// How two texts become one; null: in no way.
  const Items *pairItems() const;

  /// Applied in order, each to what the one before made.
  std::vector<Template> Templates;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_POSTPROCESSOR_H
