//===- Constraint.h - A grammar beside a text that is generated -*- C++ -*-===//

#ifndef TENON_RUNTIME_GENERATION_CONSTRAINT_H
#define TENON_RUNTIME_GENERATION_CONSTRAINT_H

#include "runtime/Generation/Request.h"

namespace tenon::generation {

/// Which tokens may follow in one text of a request that has a grammar. Tokens
/// that end a text may exactly where the grammar lets it end, whatever else
/// they are.
class Constraint final : public sampling::AllowedTokens {
public:
  /// `T` made the grammar's table.
  Constraint(const Request &Wish, const tokenizer::Tokenizer &T);

  bool allows(int32_t Token) override;
  std::span<const uint64_t> mask(size_t Vocabulary) override;
  /// Goes on with a token that may follow.
  void accept(int32_t Token);
  /// Tokens of the text that must follow, as the tokenizer cuts it, without the
  /// last one, for it may be a part of a longer one.
  std::vector<int32_t> forced();
  /// How many of `Tokens` may follow, one after another, without an end.
  size_t allowed(std::span<const int32_t> Tokens);

  bool canEnd() { return Match.canEnd(); }
  bool gaveUp() const { return Match.gaveUp(); }
  /// Nothing that says anything may follow.
  bool isComplete() { return Match.isComplete(); }

private:
  bool isEnd(int32_t Token) const;

  const tokenizer::Tokenizer *T;
  std::vector<int32_t> Ends;
  grammar::Matcher Match;
  std::vector<uint64_t> Mask;
};

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_CONSTRAINT_H
