//===- SchemaTypes.h - What a JSON value must be ----------------*- C++ -*-===//
//
// A schema is made a union of branches. A branch says for each type whether it
// may be, and how values of the type must be; values inside of arrays and
// objects must fulfil all of a list of schemas, or of their complements.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_SCHEMATYPES_H
#define TENON_RUNTIME_GRAMMAR_SCHEMATYPES_H

#include "runtime/Grammar/Numbers.h"
#include "runtime/Grammar/SchemaSource.h"

#include <set>

namespace tenon::grammar {

/// A schema's number times two, plus one for its complement.
using Literal = uint32_t;
inline Literal positive(SchemaId Id) { return Id * 2; }
inline Literal negative(SchemaId Id) { return Id * 2 + 1; }
/// All of them hold; sorted. None: any value.
using Literals = std::vector<Literal>;
Literals merged(const Literals &A, const Literals &B);

enum TypeBits : uint8_t {
  NullType = 1,
  FalseType = 2,
  TrueType = 4,
  NumberType = 8,
  StringType = 16,
  ArrayType = 32,
  ObjectType = 64,
  AnyType = 127
};

inline constexpr uint64_t NoLimit = UINT64_MAX;

struct ArraySpec {
  /// "prefixItems" and "items" of one schema.
  struct Group {
    std::vector<Literals> Prefix;
    std::optional<Literals> Items;
    bool Evaluates = true; ///< For "unevaluatedItems".
  };
  struct Containing {
    SchemaId At = 0;
    Literals What, Not;
    uint64_t Min = 1, Max = NoLimit;
  };
  std::vector<Group> Groups;
  std::vector<Containing> Contains;
  bool EvaluatesContained = false;
  /// The schema that wants all items to differ.
  std::optional<SchemaId> UniqueAt;
  uint64_t Min = 0, Max = NoLimit;

  /// What the item `Index` must be.
  Literals at(size_t Index) const;
  /// From this index on all are alike.
  size_t prefix() const;
};

struct ObjectSpec {
  /// "properties", "patternProperties" and "additionalProperties" of one
  /// schema.
  struct Group {
    std::vector<std::pair<std::string, Literals>> Named;
    std::vector<std::pair<NodeId, Literals>> Patterns;
    std::optional<Literals> Others;
    bool Evaluates = true; ///< For "unevaluatedProperties".
    const Literals *find(const std::string &Name) const;
  };
  std::vector<Group> Groups;
  std::vector<std::string> Required;
  std::vector<std::pair<std::string, std::string>> Dependent; ///< If, then.
  Literals Names;
  uint64_t Min = 0, Max = NoLimit;

  void forbid(const std::string &Name);
};

struct Branch {
  uint8_t Types = AnyType;
  NumberSpec Number;
  NodeId String = RegexPool::AnyText;
  ArraySpec Array;
  ObjectSpec Object;

  /// Of these types only.
  static Branch of(uint8_t Types) {
    Branch B;
    B.Types = Types;
    return B;
  }
};
using Branches = std::vector<Branch>;

/// Both; types that cannot be are left out.
Branch intersect(RegexPool &Pool, const Branch &A, const Branch &B);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_SCHEMATYPES_H
