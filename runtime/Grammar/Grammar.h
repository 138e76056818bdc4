//===- Grammar.h - Texts that an answer may be ------------------*- C++ -*-===//
//
// What constrains generation: a grammar, compiled once and shared, and a
// matcher for each text, which says which tokens may follow. A token is allowed
// exactly when the text with it can still be completed. docs/
// constrained-output.md says what is accepted.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_GRAMMAR_H
#define TENON_RUNTIME_GRAMMAR_GRAMMAR_H

#include "runtime/Grammar/Options.h"
#include "runtime/Grammar/TokenTable.h"
#include "runtime/Support/Json.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::grammar {

struct Source;

/// Which texts are accepted. Immutable for those who use it: any number of
/// threads may, at once. Errors are one line; those of a schema name the JSON
/// pointer. That nothing can be accepted is an error, too.
class Grammar {
public:
  using Ptr = std::shared_ptr<const Grammar>;

  /// JSON that fulfils a schema. `Text` is the schema's JSON.
  static Result<Ptr> fromJsonSchemaText(std::string_view Text,
                                        const SchemaOptions &Options = {},
                                        const Limits &Most = {});
  static Result<Ptr> fromJsonSchema(const Json &Schema,
                                    const SchemaOptions &Options = {},
                                    const Limits &Most = {});
  /// Any object in JSON.
  static Result<Ptr> anyJsonObject(const SchemaOptions &Options = {});
  /// Texts that the regular expression matches as a whole.
  static Result<Ptr> fromRegex(std::string_view Text, const Limits &Most = {});
  /// EBNF in the dialect that llama.cpp calls GBNF.
  static Result<Ptr> fromEbnf(std::string_view Text, const Limits &Most = {});
  /// One of these texts.
  static Result<Ptr> fromChoices(std::span<const std::string> Texts,
                                 const Limits &Most = {});

  /// What RuleBuilder makes.
  static Ptr fromSource(Source From, const Limits &Most);

  /// Whether special tokens are parts of its texts: its matchers need a table
  /// that has them.
  bool hasSpecialTokens() const;

  Grammar(const Grammar &) = delete;
  Grammar &operator=(const Grammar &) = delete;
  ~Grammar();

private:
  friend class Matcher;
  struct State;
  explicit Grammar(std::unique_ptr<State> Compiled);
  std::unique_ptr<State> Compiled;
};

/// One text and what may follow it. A copy goes on by itself. Not for several
/// threads at once; matchers of one grammar may be in different ones.
class Matcher {
public:
  /// At the beginning of a text. With `Begins` the first token is the first
  /// that is decoded, which some tokenizers spell otherwise.
  Matcher(Grammar::Ptr G, std::shared_ptr<const TokenTable> Tokens,
          bool Begins = true);

  /// Sets the bits of the tokens that may follow, and clears all others of
  /// `Words`. Tokens that end a text are the caller's: see canEnd().
  void mask(std::span<uint64_t> Words);
  /// Whether this one may: cheaper than a mask.
  bool allows(int32_t Token);
  /// Goes on with the token; false, and nothing changes, where it must not
  /// follow.
  bool accept(int32_t Token);
  /// Takes back the last tokens; at most as many as were accepted.
  void rollback(size_t Count);
  Matcher fork() const { return *this; }

  /// Whether the text may end here.
  bool canEnd();
  /// Whether it has ended: nothing, or only white space, may follow.
  bool isComplete();
  /// The bytes that must follow, as far as there is only one way.
  std::string forced(size_t Most = 256);

  /// What may follow takes more steps or memory to find out than the grammar's
  /// limits allow. From then on nothing may, and the text cannot end.
  bool gaveUp() const { return GaveUp; }

  /// Tokens accepted.
  size_t length() const { return Configs.size() - 1; }
  const std::shared_ptr<const TokenTable> &tokens() const { return Tokens; }

private:
  template <typename Function> auto ask(Function Do);
  uint32_t stepped(uint32_t From, int32_t Token);
  bool catchUp();
  const TokenTable &table() const {
    return Begins && Configs.size() == 1 ? Tokens->first() : *Tokens;
  }

  Grammar::Ptr G;
  std::shared_ptr<const TokenTable> Tokens;
  bool Begins;
  /// What the grammar's numbers mean; they may be given anew.
  uint64_t Epoch = 0;
  std::vector<uint32_t> Configs; ///< Before each token, and behind the last.
  std::vector<int32_t> Accepted;
  size_t StepsLeft;
  bool GaveUp = false;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_GRAMMAR_H
