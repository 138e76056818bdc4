//===- SchemaNegation.cpp - What a schema does not allow ------------------===//

#include "runtime/Grammar/RegexParser.h"
#include "runtime/Grammar/SchemaReader.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

/// Whether it plainly allows every value.
bool SchemaReader::isTrue(SchemaId Id) const {
  const Json &Value = Source.at(Id);
  return Value == true || (Value.is_object() && Value.empty());
}

void SchemaReader::numberNot(SchemaId Id, Branches &Ways) {
  Branch All;
  leafNumber(Id, All);
  auto Add = [&](NumberSpec Spec) {
    Branch B = Branch::of(NumberType);
    B.Number = std::move(Spec);
    Ways.push_back(std::move(B));
  };
  if (All.Number.Low) {
    NumberSpec Spec;
    Spec.High = NumberBound{All.Number.Low->Value, !All.Number.Low->IsOpen};
    Add(Spec);
  }
  if (All.Number.High) {
    NumberSpec Spec;
    Spec.Low = NumberBound{All.Number.High->Value, !All.Number.High->IsOpen};
    Add(Spec);
  }
  for (const NumberSpec::Multiple &M : All.Number.Multiples) {
    NumberSpec Spec;
    Spec.Multiples.push_back({M.Of, !M.IsNot});
    Add(Spec);
  }
}

void SchemaReader::arrayNot(SchemaId Id, Branches &Ways) {
  Branch All;
  leafArray(Id, All);
  const ArraySpec &A = All.Array;
  auto Add = [&](ArraySpec Spec) {
    Branch B = Branch::of(ArrayType);
    B.Array = std::move(Spec);
    Ways.push_back(std::move(B));
  };
  if (A.Min > 0) {
    ArraySpec Spec;
    Spec.Max = A.Min - 1;
    Add(Spec);
  }
  if (A.Max != NoLimit) {
    ArraySpec Spec;
    Spec.Min = A.Max + 1;
    Add(Spec);
  }
  if (A.UniqueAt)
    failed(Id, "uniqueItems", "cannot be negated");
  for (const ArraySpec::Containing &C : A.Contains) {
    if (C.Min > 0) {
      ArraySpec Spec;
      Spec.Contains.push_back({Id, C.What, C.Not, 0, C.Min - 1});
      Add(Spec);
    }
    if (C.Max != NoLimit) {
      ArraySpec Spec;
      Spec.Contains.push_back({Id, C.What, C.Not, C.Max + 1, NoLimit});
      Add(Spec);
    }
  }
  if (A.Groups.empty())
    return;
  const ArraySpec::Group &G = A.Groups[0];
  for (size_t I = 0; I < G.Prefix.size(); ++I) {
    ArraySpec Spec;
    Spec.Min = I + 1;
    ArraySpec::Group Broken;
    Broken.Prefix.resize(I);
    Broken.Prefix.push_back({G.Prefix[I][0] + 1});
    Spec.Groups.push_back(std::move(Broken));
    Add(Spec);
  }
  if (!G.Items || isTrue((*G.Items)[0] / 2))
    return;
  Literal Items = (*G.Items)[0];
  ArraySpec Spec;
  if (Source.at(Items / 2) == false) {
    Spec.Min = G.Prefix.size() + 1;
  } else if (G.Prefix.empty()) {
    Spec.Contains.push_back({Id, {Items + 1}, {Items}, 1, NoLimit});
  } else {
    failed(Id, "items", "beside prefixItems cannot be negated");
    return;
  }
  Add(Spec);
}

void SchemaReader::objectNot(SchemaId Id, Branches &Ways) {
  Branch All;
  leafObject(Id, All);
  const ObjectSpec &O = All.Object;
  auto Add = [&](ObjectSpec Spec) {
    Branch B = Branch::of(ObjectType);
    B.Object = std::move(Spec);
    Ways.push_back(std::move(B));
  };
  if (O.Min > 0) {
    ObjectSpec Spec;
    Spec.Max = O.Min - 1;
    Add(Spec);
  }
  if (O.Max != NoLimit) {
    ObjectSpec Spec;
    Spec.Min = O.Max + 1;
    Add(Spec);
  }
  for (const std::string &Name : O.Required) {
    ObjectSpec Spec;
    Spec.forbid(Name);
    Add(Spec);
  }
  for (const auto &[If, Then] : O.Dependent) {
    ObjectSpec Spec;
    Spec.Required.push_back(If);
    Spec.forbid(Then);
    Add(Spec);
  }
  for (Literal L : O.Names)
    if (!isTrue(L / 2))
      failed(Id, "propertyNames", "cannot be negated");
  if (O.Groups.empty())
    return;
  const ObjectSpec::Group &G = O.Groups[0];
  for (const auto &[Name, What] : G.Named) {
    if (isTrue(What[0] / 2))
      continue;
    ObjectSpec Spec;
    Spec.Required.push_back(Name);
    ObjectSpec::Group Broken;
    Broken.Named.push_back({Name, {What[0] + 1}});
    Spec.Groups.push_back(std::move(Broken));
    Add(Spec);
  }
  for (const auto &[Pattern, What] : G.Patterns)
    if (!isTrue(What[0] / 2))
      failed(Id, "patternProperties", "cannot be negated");
  if (G.Others && !isTrue((*G.Others)[0] / 2))
    failed(Id, "additionalProperties", "cannot be negated");
}

Branches SchemaReader::valuesNot(SchemaId Id) {
  Branches Ways;
  for (const char *Key : {"enum", "const"}) {
    if (!has(Id, Key))
      continue;
    const Json &Given = Source.at(Id)[Key];
    std::vector<Json> Values;
    if (Key[0] == 'c')
      Values.push_back(Given);
    else
      Values.assign(Given.begin(), Given.end());
    Branches Rest{Branch()};
    std::vector<std::u32string> Words;
    std::vector<Decimal> Numbers;
    Branch &Scalars = Rest[0];
    Branches Arrays{Branch::of(ArrayType)}, Objects{Branch::of(ObjectType)};
    Scalars.Types = AnyType & ~(ArrayType | ObjectType | NumberType);
    for (const Json &Value : Values) {
      if (Value.is_null())
        Scalars.Types &= ~NullType;
      else if (Value.is_boolean())
        Scalars.Types &= Value.get<bool>() ? ~TrueType : ~FalseType;
      else if (Value.is_string())
        Words.push_back(codesOf(Value.get_ref<const std::string &>()));
      else if (Value.is_number())
        Numbers.push_back(Decimal::parse(Value.dump()).value_or(Decimal()));
      else {
        Branches &Same = Value.is_array() ? Arrays : Objects;
        Same = both(Same, branches(negative(constant(Value, Id)), false), Id);
      }
    }
    if (!Words.empty())
      Scalars.String = Pool.complement(Pool.words(std::move(Words)));
    // Between the numbers.
    std::sort(Numbers.begin(), Numbers.end());
    Numbers.erase(std::unique(Numbers.begin(), Numbers.end()), Numbers.end());
    if (Numbers.size() > 256)
      return failed(Id, Key, "of more than 256 numbers cannot be negated");
    for (size_t I = 0; I <= Numbers.size(); ++I) {
      Branch B = Branch::of(NumberType);
      if (I > 0)
        B.Number.Low = NumberBound{Numbers[I - 1], true};
      if (I < Numbers.size())
        B.Number.High = NumberBound{Numbers[I], true};
      Rest.push_back(std::move(B));
    }
    add(Rest, Arrays, Id);
    add(Rest, Objects, Id);
    add(Ways, Rest, Id);
  }
  return Ways;
}

/// The ways to break one of the schema's own keywords.
Branches SchemaReader::leafNot(SchemaId Id) {
  Branches Ways;
  if (has(Id, "type")) {
    bool IsInteger = false;
    uint8_t Types = types(Id, IsInteger);
    if (Failure)
      return {};
    if (Types != AnyType)
      Ways.push_back(Branch::of(AnyType & ~Types));
    if (IsInteger) {
      Branch B = Branch::of(NumberType);
      B.Number.Multiples.push_back({*Decimal::parse("1"), true});
      Ways.push_back(std::move(B));
    }
  }
  if (has(Id, "enum") || has(Id, "const"))
    add(Ways, valuesNot(Id), Id);
  numberNot(Id, Ways);
  Branch Strings = Branch::of(StringType);
  leafString(Id, Strings);
  if (Strings.String != RegexPool::AnyText) {
    Strings.String = Pool.complement(Strings.String);
    if (Pool.live(Strings.String))
      Ways.push_back(std::move(Strings));
  }
  arrayNot(Id, Ways);
  objectNot(Id, Ways);
  return Failure ? Branches() : Ways;
}
