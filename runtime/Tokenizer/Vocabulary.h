//===- Vocabulary.h - A model's tokens and their ids ------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_VOCABULARY_H
#define TENON_RUNTIME_TOKENIZER_VOCABULARY_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::tokenizer {

/// Ids from this on are refused.
inline constexpr int64_t MaxTokenId = int64_t{4} << 20;

/// The tokens of a model, by text and by id. Ids may leave gaps.
class Vocabulary {
public:
  /// Takes tokens with their ids; `Where` names the file and field in errors:
  /// for ids that are negative, beyond MaxTokenId or given twice, and for
  /// tokens given twice.
  static Result<Vocabulary>
  build(std::vector<std::pair<std::string, int64_t>> Tokens,
        const std::string &Where);

  Vocabulary(Vocabulary &&) = default;
  Vocabulary &operator=(Vocabulary &&) = default;

  size_t size() const { return Tokens.size(); }
  std::optional<int32_t> idOf(std::string_view Token) const;
  std::optional<std::string_view> tokenOf(int32_t Id) const;
  /// One more than the highest id.
  int32_t idEnd() const { return static_cast<int32_t>(IndexOfId.size()); }
  /// The most bytes that a token has.
  size_t longest() const { return Longest; }

private:
  Vocabulary() = default;

  std::vector<std::pair<std::string, int64_t>> Tokens;
  /// Keys are the strings in Tokens, which never moves after build().
  std::unordered_map<std::string_view, int32_t> Ids;
  std::vector<int32_t> IndexOfId;
  size_t Longest = 0;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_VOCABULARY_H
