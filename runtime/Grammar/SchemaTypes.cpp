//===- SchemaTypes.cpp - What a JSON value must be ------------------------===//

#include "runtime/Grammar/SchemaTypes.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

Literals grammar::merged(const Literals &A, const Literals &B) {
  Literals Both;
  std::set_union(A.begin(), A.end(), B.begin(), B.end(),
                 std::back_inserter(Both));
  return Both;
}

Literals ArraySpec::at(size_t Index) const {
  Literals All;
  for (const Group &G : Groups) {
    if (Index < G.Prefix.size())
      All = merged(All, G.Prefix[Index]);
    else if (G.Items)
      All = merged(All, *G.Items);
  }
  return All;
}

size_t ArraySpec::prefix() const {
  size_t Length = 0;
  for (const Group &G : Groups)
    Length = std::max(Length, G.Prefix.size());
  return Length;
}

const Literals *ObjectSpec::Group::find(const std::string &Name) const {
  for (const auto &[Known, What] : Named)
    if (Known == Name)
      return &What;
  return nullptr;
}

void ObjectSpec::forbid(const std::string &Name) {
  Group G;
  G.Named.push_back({Name, {positive(SchemaSource::False)}});
  G.Evaluates = false;
  Groups.push_back(std::move(G));
}

template <typename T>
static void append(std::vector<T> &To, const std::vector<T> &From) {
  To.insert(To.end(), From.begin(), From.end());
}

Branch grammar::intersect(RegexPool &Pool, const Branch &A, const Branch &B) {
  Branch Both;
  Both.Types = A.Types & B.Types;
  if (Both.Types & NumberType) {
    Both.Number = A.Number;
    Both.Number.intersect(B.Number);
    const NumberSpec &N = Both.Number;
    if ((N.Values && N.Values->empty()) ||
        (N.Low && N.High &&
         (N.Low->Value > N.High->Value || (N.Low->Value == N.High->Value &&
                                           (N.Low->IsOpen || N.High->IsOpen)))))
      Both.Types &= ~NumberType;
  }
  if (Both.Types & StringType) {
    Both.String = Pool.intersect(A.String, B.String);
    if (!Pool.live(Both.String))
      Both.Types &= ~StringType;
  }
  if (Both.Types & ArrayType) {
    Both.Array = A.Array;
    append(Both.Array.Groups, B.Array.Groups);
    append(Both.Array.Contains, B.Array.Contains);
    if (!A.Array.UniqueAt)
      Both.Array.UniqueAt = B.Array.UniqueAt;
    Both.Array.EvaluatesContained |= B.Array.EvaluatesContained;
    Both.Array.Min = std::max(A.Array.Min, B.Array.Min);
    Both.Array.Max = std::min(A.Array.Max, B.Array.Max);
    if (Both.Array.Min > Both.Array.Max)
      Both.Types &= ~ArrayType;
  }
  if (Both.Types & ObjectType) {
    ObjectSpec &O = Both.Object;
    O = A.Object;
    append(O.Groups, B.Object.Groups);
    for (const std::string &Name : B.Object.Required)
      if (std::find(O.Required.begin(), O.Required.end(), Name) ==
          O.Required.end())
        O.Required.push_back(Name);
    append(O.Dependent, B.Object.Dependent);
    O.Names = merged(O.Names, B.Object.Names);
    O.Min = std::max(A.Object.Min, B.Object.Min);
    O.Max = std::min(A.Object.Max, B.Object.Max);
    if (O.Min > O.Max)
      Both.Types &= ~ObjectType;
  }
  return Both;
}
