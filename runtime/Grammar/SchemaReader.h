//===- SchemaReader.h - Schemas to branches ---------------------*- C++ -*-===//
//
// Makes a schema, or what it does not allow, a union of branches. Each keyword
// is enforced, has nothing to do with what is valid, or is an error that names
// its place.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_SCHEMAREADER_H
#define TENON_RUNTIME_GRAMMAR_SCHEMAREADER_H

#include "runtime/Grammar/Options.h"
#include "runtime/Grammar/SchemaTypes.h"

#include <set>

namespace tenon::grammar {

class SchemaReader {
public:
  SchemaReader(SchemaSource &Source, RegexPool &Pool,
               const SchemaOptions &Options, const Limits &Most);

  /// The branches of a value that fulfils all of `All`; none after a failure.
  Branches branchesOf(const Literals &All);
  /// Whether a value can fulfil it, as far as a short look says.
  bool mayBe(const Literals &All, int Depth = 4);
  /// The texts that a key may be where keys must fulfil `Names`.
  NodeId stringsOf(const Literals &Names);

  /// The first error.
  std::optional<Error> Failure;
  /// Says that something has failed.
  void fail(const Error &E) {
    if (!Failure)
      Failure = E;
  }
  double Deadline = 0;

private:
  const Branches &branches(Literal L, bool Exact);
  Branches read(SchemaId Id, bool Exact);
  Branches readNot(SchemaId Id);
  Branches both(const Branches &A, const Branches &B, SchemaId At);
  void add(Branches &To, const Branches &More, SchemaId At);
  bool mayBe(const Branch &B, int Depth);
  bool mayBoth(const Branches &A, const Branches &B, SchemaId At);
  Branches anyOf(SchemaId Id, const std::string &Key, bool Exact);
  Branches oneOf(SchemaId Id, bool Exact);
  void applyUnevaluated(SchemaId Id, Branches &All);

  // SchemaKeywords.cpp
  bool checkKeywords(SchemaId Id);
  Branch leaf(SchemaId Id);
  void leafNumber(SchemaId Id, Branch &B);
  void leafString(SchemaId Id, Branch &B);
  void leafArray(SchemaId Id, Branch &B);
  void leafObject(SchemaId Id, Branch &B);
  uint8_t types(SchemaId Id, bool &IsInteger);
  Branches values(SchemaId Id);
  std::optional<NodeId> format(SchemaId Id);
  std::optional<NodeId> pattern(SchemaId Id, const std::string &Keyword,
                                const std::string &Text);
  std::optional<Decimal> decimal(SchemaId Id, const std::string &Key);
  std::optional<uint64_t> count(SchemaId Id, const std::string &Key);
  SchemaId constant(const Json &Value, SchemaId For);

  // SchemaNegation.cpp
  Branches leafNot(SchemaId Id);
  Branches valuesNot(SchemaId Id);
  void numberNot(SchemaId Id, Branches &Ways);
  void arrayNot(SchemaId Id, Branches &Ways);
  void objectNot(SchemaId Id, Branches &Ways);
  bool isTrue(SchemaId Id) const;

  bool has(SchemaId Id, const std::string &Key) const;
  Branches failed(SchemaId Id, const std::string &Key, const std::string &Why);

  SchemaSource &Source;
  RegexPool &Pool;
  const Limits &Most;
  bool AssertsFormat;
  std::map<std::pair<Literal, bool>, Branches> Known;
  std::set<std::pair<Literal, bool>> Active;
  std::map<Literals, bool> May;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_SCHEMAREADER_H
