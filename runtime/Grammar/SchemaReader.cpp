//===- SchemaReader.cpp - Keywords that join schemas ----------------------===//

#include "runtime/Grammar/SchemaReader.h"

#include "runtime/Grammar/RegexParser.h"
#include "runtime/Support/Clock.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

SchemaReader::SchemaReader(SchemaSource &Source, RegexPool &Pool,
                           const SchemaOptions &Options, const Limits &Most)
    : Source(Source), Pool(Pool), Most(Most) {
  Dialect D = Source.dialect();
  AssertsFormat = Options.Format == Formats::Asserted ||
                  (Options.Format == Formats::ByDialect &&
                   D != Dialect::Draft2019 && D != Dialect::Draft2020);
}

bool SchemaReader::has(SchemaId Id, const std::string &Key) const {
  return Source.at(Id).contains(Key);
}

Branches SchemaReader::failed(SchemaId Id, const std::string &Key,
                              const std::string &Why) {
  fail(Source.error(Id, Key, Why));
  return {};
}

void SchemaReader::add(Branches &To, const Branches &More, SchemaId At) {
  if (To.size() + More.size() > Most.Branches) {
    failed(At, "",
           "makes more than " + std::to_string(Most.Branches) +
               " alternatives: expected fewer combinations");
    return;
  }
  To.insert(To.end(), More.begin(), More.end());
}

Branches SchemaReader::both(const Branches &A, const Branches &B, SchemaId At) {
  Branches All;
  for (const Branch &X : A)
    for (const Branch &Y : B) {
      if (Failure)
        return {};
      if (Deadline != 0 && secondsNow() > Deadline)
        return failed(At, "", "takes too long to compile");
      if (Branch Z = intersect(Pool, X, Y); Z.Types != 0)
        add(All, {Z}, At);
    }
  return All;
}

const Branches &SchemaReader::branches(Literal L, bool Exact) {
  std::pair Key(L, Exact);
  if (auto Found = Known.find(Key); Found != Known.end())
    return Found->second;
  SchemaId Id = L / 2;
  if (Active.size() > 400 || !Active.insert(Key).second) {
    failed(Id, "", "refers to itself for the same value: expected an end");
    static const Branches None;
    return None;
  }
  Branches Made = L % 2 ? readNot(Id) : read(Id, Exact);
  Active.erase(Key);
  if (Failure) {
    // Half of an answer is none, also where the failure does not count.
    static const Branches None;
    return None;
  }
  return Known[Key] = std::move(Made);
}

Branches SchemaReader::branchesOf(const Literals &All) {
  Branches Made{Branch()};
  for (Literal L : All) {
    if (Failure)
      return {};
    Made = both(Made, branches(L, false), L / 2);
  }
  return Made;
}

NodeId SchemaReader::stringsOf(const Literals &Names) {
  if (Names.empty())
    return RegexPool::AnyText;
  std::vector<NodeId> Ways;
  for (const Branch &B : branchesOf(Names))
    if (B.Types & StringType)
      Ways.push_back(B.String);
  return Pool.unite(std::move(Ways));
}

bool SchemaReader::mayBe(const Literals &All, int Depth) {
  if (All.empty() || Depth == 0)
    return true;
  if (All.front() == positive(SchemaSource::False))
    return false;
  if (Failure)
    return true;
  if (auto Found = May.find(All); Found != May.end())
    return Found->second;
  bool Is = false;
  auto Before = Active;
  for (const Branch &B : branchesOf(All))
    Is = Is || mayBe(B, Depth);
  if (Failure) {
    // A schema that is being read says nothing yet, and what is wrong with one
    // is said where it is needed.
    Failure.reset();
    Active = std::move(Before);
    return true;
  }
  return May[All] = Is;
}

bool SchemaReader::mayBe(const Branch &B, int Depth) {
  if (B.Types & (NullType | FalseType | TrueType | NumberType | StringType))
    return true;
  if (B.Types & ArrayType) {
    bool Is = true;
    for (size_t I = 0; Is && I < B.Array.Min && I <= B.Array.prefix(); ++I)
      Is = mayBe(B.Array.at(I), Depth - 1);
    if (Is)
      return true;
  }
  if (!(B.Types & ObjectType))
    return false;
  for (const std::string &Name : B.Object.Required) {
    Literals What;
    for (const ObjectSpec::Group &G : B.Object.Groups) {
      bool IsNamed = false;
      if (const Literals *Own = G.find(Name)) {
        What = merged(What, *Own);
        IsNamed = true;
      }
      for (const auto &[Pattern, Own] : G.Patterns) {
        if (Pool.matches(Pattern, codesOf(Name))) {
          What = merged(What, Own);
          IsNamed = true;
        }
      }
      if (!IsNamed && G.Others)
        What = merged(What, *G.Others);
    }
    if (!mayBe(What, Depth - 1))
      return false;
  }
  return B.Object.Required.size() <= B.Object.Max;
}

bool SchemaReader::mayBoth(const Branches &A, const Branches &B, SchemaId At) {
  for (const Branch &Both : both(A, B, At))
    if (mayBe(Both, 4))
      return true;
  return false;
}

/// At least one of the schemas. `Exact`: with each combination of those that
/// hold as alternatives of its own, for what they evaluate.
Branches SchemaReader::anyOf(SchemaId Id, const std::string &Key, bool Exact) {
  size_t Count = Source.at(Id)[Key].size();
  Branches All;
  if (!Exact || Count == 1) {
    for (size_t I = 0; I < Count; ++I)
      add(All, branches(positive(Source.child(Id, Key, I)), Exact), Id);
    return All;
  }
  if (Count > 6)
    return failed(Id, Key,
                  "more than 6 schemas below unevaluated properties or items "
                  "are not supported");
  for (size_t Set = 1; Set < size_t(1) << Count && !Failure; ++Set) {
    Branches Way{Branch()};
    for (size_t I = 0; I < Count; ++I)
      if (Set >> I & 1)
        Way = both(Way, branches(positive(Source.child(Id, Key, I)), true), Id);
    for (size_t I = 0; I < Count && !Way.empty() && !Failure; ++I) {
      Literal L = positive(Source.child(Id, Key, I));
      if (!(Set >> I & 1) && mayBoth(Way, branches(L, true), Id))
        Way = both(Way, branches(L + 1, true), Id);
    }
    add(All, Way, Id);
  }
  return All;
}

/// Exactly one. What cannot hold with it need not be excluded.
Branches SchemaReader::oneOf(SchemaId Id, bool Exact) {
  size_t Count = Source.at(Id)["oneOf"].size();
  Branches All;
  for (size_t I = 0; I < Count && !Failure; ++I) {
    Branches Way = branches(positive(Source.child(Id, "oneOf", I)), Exact);
    for (size_t K = 0; K < Count && !Failure; ++K) {
      Literal Other = positive(Source.child(Id, "oneOf", K));
      if (K != I && mayBoth(Way, branches(Other, Exact), Id))
        Way = both(Way, branches(Other + 1, false), Id);
    }
    add(All, Way, Id);
  }
  return All;
}

Branches SchemaReader::read(SchemaId Id, bool Exact) {
  if (Failure)
    return {};
  if (Source.at(Id).is_boolean())
    return Source.at(Id).get<bool>() ? Branches{Branch()} : Branches();
  if (!checkKeywords(Id))
    return {};
  bool Unevaluated =
      has(Id, "unevaluatedProperties") || has(Id, "unevaluatedItems");
  bool OwnExact = Exact || Unevaluated;
  Branches All{leaf(Id)};
  if (All[0].Types == 0)
    return {};
  if (has(Id, "enum") || has(Id, "const"))
    All = both(All, values(Id), Id);
  auto And = [&](const Branches &More) { All = both(All, More, Id); };
  for (const char *Key : {"$ref", "$dynamicRef"})
    if (has(Id, Key) && !Failure) {
      Result<SchemaId> Target =
          Source.resolve(Id, Source.at(Id)[Key].get<std::string>());
      if (!Target)
        return fail(Target.error()), Branches();
      And(branches(positive(*Target), OwnExact));
    }
  if (has(Id, "allOf"))
    for (size_t I = 0; I < Source.at(Id)["allOf"].size() && !Failure; ++I)
      And(branches(positive(Source.child(Id, "allOf", I)), OwnExact));
  if (has(Id, "anyOf") && !Failure)
    And(anyOf(Id, "anyOf", OwnExact));
  if (has(Id, "oneOf") && !Failure)
    And(oneOf(Id, OwnExact));
  if (has(Id, "not") && !Failure)
    And(branches(negative(Source.child(Id, "not")), false));
  if (has(Id, "if") && !Failure &&
      (has(Id, "then") || has(Id, "else") || OwnExact)) {
    Literal If = positive(Source.child(Id, "if"));
    Branches Yes = branches(If, OwnExact);
    if (has(Id, "then"))
      Yes =
          both(Yes, branches(positive(Source.child(Id, "then")), OwnExact), Id);
    Branches No = branches(If + 1, false);
    if (has(Id, "else"))
      No = both(No, branches(positive(Source.child(Id, "else")), OwnExact), Id);
    add(Yes, No, Id);
    And(Yes);
  }
  for (const char *Key : {"dependentSchemas", "dependencies"}) {
    if (!has(Id, Key) || Failure)
      continue;
    for (const auto &[Name, Value] : Source.at(Id)[Key].items()) {
      if (Value.is_array())
        continue;
      Branch Absent, Present = Branch::of(ObjectType);
      Absent.Object.forbid(Name);
      Present.Object.Required.push_back(Name);
      Branches Ways =
          both({Present},
               branches(positive(Source.child(Id, Key, Name)), OwnExact), Id);
      add(Ways, {Absent}, Id);
      And(Ways);
    }
  }
  if (Unevaluated && !Failure)
    applyUnevaluated(Id, All);
  return All;
}

void SchemaReader::applyUnevaluated(SchemaId Id, Branches &All) {
  for (Branch &B : All) {
    if (has(Id, "unevaluatedProperties") && (B.Types & ObjectType)) {
      ObjectSpec::Group Rest;
      bool IsAll = false;
      for (const ObjectSpec::Group &G : B.Object.Groups) {
        if (!G.Evaluates)
          continue;
        IsAll |= G.Others.has_value();
        for (const auto &[Name, What] : G.Named)
          Rest.Named.push_back({Name, {}});
        for (const auto &[Pattern, What] : G.Patterns)
          Rest.Patterns.push_back({Pattern, {}});
      }
      Rest.Others = {positive(Source.child(Id, "unevaluatedProperties"))};
      if (!IsAll)
        B.Object.Groups.push_back(std::move(Rest));
    }
    if (has(Id, "unevaluatedItems") && (B.Types & ArrayType)) {
      ArraySpec::Group Rest;
      bool IsAll = false;
      for (const ArraySpec::Group &G : B.Array.Groups) {
        if (!G.Evaluates)
          continue;
        IsAll |= G.Items.has_value();
        if (G.Prefix.size() > Rest.Prefix.size())
          Rest.Prefix.resize(G.Prefix.size());
      }
      if (!IsAll && B.Array.EvaluatesContained) {
        failed(Id, "unevaluatedItems",
               "beside contains is not supported: expected items");
        return;
      }
      Rest.Items = {positive(Source.child(Id, "unevaluatedItems"))};
      if (!IsAll)
        B.Array.Groups.push_back(std::move(Rest));
    }
  }
}

/// What does not fulfil the schema: one keyword at least fails.
Branches SchemaReader::readNot(SchemaId Id) {
  if (Failure)
    return {};
  if (Source.at(Id).is_boolean())
    return Source.at(Id).get<bool>() ? Branches() : Branches{Branch()};
  if (!checkKeywords(Id))
    return {};
  for (const char *Key : {"unevaluatedProperties", "unevaluatedItems"})
    if (has(Id, Key))
      return failed(Id, Key, "cannot be negated");
  Branches Ways = leafNot(Id);
  auto Or = [&](const Branches &More) { add(Ways, More, Id); };
  for (const char *Key : {"$ref", "$dynamicRef"})
    if (has(Id, Key) && !Failure) {
      Result<SchemaId> Target =
          Source.resolve(Id, Source.at(Id)[Key].get<std::string>());
      if (!Target)
        return fail(Target.error()), Branches();
      Or(branches(negative(*Target), false));
    }
  if (has(Id, "allOf"))
    for (size_t I = 0; I < Source.at(Id)["allOf"].size() && !Failure; ++I)
      Or(branches(negative(Source.child(Id, "allOf", I)), false));
  for (const char *Key : {"anyOf", "oneOf"}) {
    if (!has(Id, Key) || Failure)
      continue;
    size_t Count = Source.at(Id)[Key].size();
    Branches None{Branch()};
    for (size_t I = 0; I < Count && !Failure; ++I)
      None =
          both(None, branches(negative(Source.child(Id, Key, I)), false), Id);
    Or(None);
    for (size_t I = 0; Key[0] == 'o' && I < Count && !Failure; ++I)
      for (size_t K = 0; K < I && !Failure; ++K)
        Or(both(branches(positive(Source.child(Id, Key, I)), false),
                branches(positive(Source.child(Id, Key, K)), false), Id));
  }
  if (has(Id, "not") && !Failure)
    Or(branches(positive(Source.child(Id, "not")), false));
  if (has(Id, "if") && !Failure) {
    Literal If = positive(Source.child(Id, "if"));
    if (has(Id, "then"))
      Or(both(branches(If, false),
              branches(negative(Source.child(Id, "then")), false), Id));
    if (has(Id, "else") && !Failure)
      Or(both(branches(If + 1, false),
              branches(negative(Source.child(Id, "else")), false), Id));
  }
  for (const char *Key : {"dependentSchemas", "dependencies"}) {
    if (!has(Id, Key) || Failure)
      continue;
    for (const auto &[Name, Value] : Source.at(Id)[Key].items()) {
      if (Value.is_array())
        continue;
      Branch Present = Branch::of(ObjectType);
      Present.Object.Required.push_back(Name);
      Or(both({Present}, branches(negative(Source.child(Id, Key, Name)), false),
              Id));
    }
  }
  // What a complement says of properties does not evaluate them.
  for (Branch &B : Ways) {
    for (ObjectSpec::Group &G : B.Object.Groups)
      G.Evaluates = false;
    for (ArraySpec::Group &G : B.Array.Groups)
      G.Evaluates = false;
    B.Array.EvaluatesContained = false;
  }
  return Ways;
}
