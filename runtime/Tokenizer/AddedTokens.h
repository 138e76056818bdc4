//===- AddedTokens.h - Tokens found before all else -------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_ADDEDTOKENS_H
#define TENON_RUNTIME_TOKENIZER_ADDEDTOKENS_H

#include "runtime/Tokenizer/Normalizers.h"
#include "runtime/Tokenizer/Vocabulary.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tenon::tokenizer {

/// The "added_tokens" of a tokenizer: found in the text before it is split, in
/// the raw text or, when "normalized", in the normalized text between those.
class AddedTokens {
public:
  /// Reads the array `Field`. Ids are what `tokenizers` assigns: the model's id
  /// of that text, or the next free one; an error when the file says otherwise,
  /// as for ids given twice, texts that are empty, too long, or nothing once
  /// normalized. `Rules` may be null.
  static Result<AddedTokens> fromJson(const JsonField &Field,
                                      const Vocabulary &Model,
                                      const Normalizer *Rules);

  std::optional<int32_t> idOf(std::string_view Token) const;
  /// What decoders see of the token `Id`: its text, normalized if the token is.
  std::optional<std::string_view> tokenOf(int32_t Id) const;
  /// Asked with what tokenOf() gives, as `tokenizers` does: a special token
  /// that normalizing changes is not found.
  bool isSpecial(std::string_view Token) const;
  /// One more than the highest id.
  int32_t idEnd() const {
    int32_t End = 0;
    for (const auto &[Id, Index] : IndexOfId)
      End = std::max(End, Id + 1);
    return End;
  }
  /// How many are not in the model.
  size_t beyondModel() const { return BeyondModel; }

  /// The text of the token `Id` if it is special.
  std::optional<std::string_view> specialOf(int32_t Id) const;
  /// Whether special tokens are looked for in normalized text.
  bool hasNormalizedSpecial() const { return HasNormalizedSpecial; }

  /// Whether a special token may lie in the bytes [Begin, End) of a text; empty
  /// for anywhere.
  using Permit = std::function<bool(size_t Begin, size_t End)>;

  /// Receives a token found, or the text before, between and after, which may
  /// be empty only if all of it is.
  using Sink =
      std::function<Status(std::optional<int32_t> Id, std::string_view Text)>;

  /// Finds tokens in raw text (`Normalized` false) or in normalized text: at
  /// each place the longest, from left to right. Of special tokens only those
  /// that `MaySpecial` allows count.
  Status split(std::string_view Text, bool Normalized, const Sink &Found,
               const Permit &MaySpecial = {}) const;

private:
  struct Token {
    std::string Content;
    std::string Decoded; ///< Content, normalized if the token is.
    int32_t Id = 0;
    bool SingleWord = false;
    bool StripLeft = false;
    bool StripRight = false;
    bool Normalized = false;
    bool Special = false;
  };

  /// Strings with shared beginnings.
  class Trie {
  public:
    Trie() : Nodes(1) {}
    /// The first of equal strings stays.
    void insert(std::string_view Text, size_t Token);
    struct Match {
      size_t Length;
      size_t Token;
    };
    /// The longest at the byte `At` that `Counts`, a function of a match.
    template <typename Predicate>
    std::optional<Match> longestAt(std::string_view Text, size_t At,
                                   Predicate Counts) const;

  private:
    static constexpr size_t None = ~size_t{0};
    struct Node {
      size_t FirstChild = None;
      size_t Sibling = None;
      size_t Token = None;
      char Byte = 0;
    };
    size_t childOf(size_t Parent, char Byte) const;

    std::vector<Node> Nodes;
    /// Which bytes some string starts with.
    bool Starts[256] = {};
  };

  static Result<Token> readToken(const JsonField &Field);

  std::vector<Token> Tokens;
  std::unordered_map<std::string, size_t> IndexOf;
  std::unordered_map<int32_t, size_t> IndexOfId;
  size_t BeyondModel = 0;
  bool HasNormalizedSpecial = false;
  Trie Raw;
  Trie AfterRules;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_ADDEDTOKENS_H
