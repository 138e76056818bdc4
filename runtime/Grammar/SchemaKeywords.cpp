//===- SchemaKeywords.cpp - Keywords of one type of value -----------------===//

#include "runtime/Grammar/Formats.h"
#include "runtime/Grammar/RegexParser.h"
#include "runtime/Grammar/SchemaReader.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

using namespace tenon;
using namespace tenon::grammar;

namespace {

enum class Shape {
  Any,
  Schema,
  SchemaOrArray,
  Schemas,   ///< A list, not empty.
  SchemaMap, ///< An object of schemas.
  Count,
  Number,
  Positive,
  String,
  Strings,
  Boolean,
  List,
  Limit ///< A number, or draft 4's boolean.
};

struct Keyword {
  std::string_view Name;
  Shape Form;
};

} // namespace

static constexpr Keyword Keywords[] = {
    {"$ref", Shape::String},
    {"$dynamicRef", Shape::String},
    {"allOf", Shape::Schemas},
    {"anyOf", Shape::Schemas},
    {"oneOf", Shape::Schemas},
    {"not", Shape::Schema},
    {"if", Shape::Schema},
    {"then", Shape::Schema},
    {"else", Shape::Schema},
    {"type", Shape::Any},
    {"enum", Shape::List},
    {"const", Shape::Any},
    {"minimum", Shape::Number},
    {"maximum", Shape::Number},
    {"exclusiveMinimum", Shape::Limit},
    {"exclusiveMaximum", Shape::Limit},
    {"multipleOf", Shape::Positive},
    {"minLength", Shape::Count},
    {"maxLength", Shape::Count},
    {"pattern", Shape::String},
    {"format", Shape::String},
    {"items", Shape::SchemaOrArray},
    {"additionalItems", Shape::Schema},
    {"prefixItems", Shape::Schemas},
    {"contains", Shape::Schema},
    {"minContains", Shape::Count},
    {"maxContains", Shape::Count},
    {"minItems", Shape::Count},
    {"maxItems", Shape::Count},
    {"uniqueItems", Shape::Boolean},
    {"unevaluatedItems", Shape::Schema},
    {"properties", Shape::SchemaMap},
    {"patternProperties", Shape::SchemaMap},
    {"additionalProperties", Shape::Schema},
    {"unevaluatedProperties", Shape::Schema},
    {"propertyNames", Shape::Schema},
    {"required", Shape::Strings},
    {"minProperties", Shape::Count},
    {"maxProperties", Shape::Count},
    {"dependentRequired", Shape::Any},
    {"dependentSchemas", Shape::SchemaMap},
    {"dependencies", Shape::Any},
};

/// What does not say which values are valid.
static constexpr std::string_view Annotations[] = {"$schema",
                                                   "$id",
                                                   "id",
                                                   "$anchor",
                                                   "$dynamicAnchor",
                                                   "$vocabulary",
                                                   "$comment",
                                                   "$defs",
                                                   "definitions",
                                                   "title",
                                                   "description",
                                                   "default",
                                                   "examples",
                                                   "example",
                                                   "deprecated",
                                                   "readOnly",
                                                   "writeOnly",
                                                   "contentEncoding",
                                                   "contentMediaType",
                                                   "contentSchema"};

/// Keywords that say which values are valid to other readers: of older drafts,
/// OpenAPI 3.0, ajv-keywords.
static constexpr std::string_view KeywordsOfOthers[] = {
    "divisibleBy",
    "disallow",
    "extends",
    "nullable",
    "min",
    "max",
    "range",
    "exclusiveRange",
    "regexp",
    "typeof",
    "instanceof",
    "uniqueItemProperties",
    "allRequired",
    "anyRequired",
    "oneRequired",
    "patternRequired",
    "prohibited",
    "deepProperties",
    "deepRequired",
    "select",
    "formatMinimum",
    "formatMaximum",
    "formatExclusiveMinimum",
    "formatExclusiveMaximum"};

template <size_t Size>
static bool isAmong(std::string_view Name,
                    const std::string_view (&Names)[Size]) {
  return std::find(std::begin(Names), std::end(Names), Name) != std::end(Names);
}

/// Levenshtein's distance.
static size_t distance(std::string_view A, std::string_view B) {
  std::vector<size_t> Row(B.size() + 1);
  std::iota(Row.begin(), Row.end(), size_t(0));
  for (size_t I = 0; I < A.size(); ++I) {
    size_t Diagonal = Row[0];
    Row[0] = I + 1;
    for (size_t J = 0; J < B.size(); ++J)
      Diagonal = std::exchange(Row[J + 1],
                               std::min({Row[J] + 1, Row[J + 1] + 1,
                                         Diagonal + (A[I] == B[J] ? 0 : 1)}));
  }
  return Row.back();
}

/// The keyword that `Name`, which is none, was probably meant to be.
static const Keyword *misspelled(std::string_view Name) {
  constexpr size_t Shortest = 4, Longest = 32, Long = 8;
  if (Name.size() < Shortest || Name.size() > Longest)
    return nullptr;
  for (const Keyword &K : Keywords)
    if (K.Name.size() >= Shortest &&
        distance(Name, K.Name) <= (Name.size() < Long ? 1 : 2))
      return &K;
  return nullptr;
}

static bool isSchema(const Json &Value) {
  return Value.is_object() || Value.is_boolean();
}

static bool isCount(const Json &Value) {
  if (Value.is_number_integer())
    return Value >= 0;
  return Value.is_number() && Value >= 0 &&
         Value.get<double>() == std::floor(Value.get<double>()) &&
         Value.get<double>() < 1e15;
}

/// What is expected where `Value` is not of the form.
static std::optional<std::string_view> misfit(const Json &Value, Shape Form) {
  auto All = [&](auto Fits) {
    return std::all_of(Value.begin(), Value.end(), Fits);
  };
  switch (Form) {
  case Shape::Any:
    return std::nullopt;
  case Shape::Schema:
    if (isSchema(Value))
      return std::nullopt;
    return "expected a schema: an object or a boolean";
  case Shape::SchemaOrArray:
    if (isSchema(Value) || (Value.is_array() && All(isSchema)))
      return std::nullopt;
    return "expected a schema, or an array of them";
  case Shape::Schemas:
    if (Value.is_array() && !Value.empty() && All(isSchema))
      return std::nullopt;
    return "expected an array of schemas, at least one";
  case Shape::SchemaMap:
    if (Value.is_object() && All(isSchema))
      return std::nullopt;
    return "expected an object of schemas";
  case Shape::Count:
    if (isCount(Value))
      return std::nullopt;
    return "expected a whole number of at least 0";
  case Shape::Number:
    if (Value.is_number())
      return std::nullopt;
    return "expected a number";
  case Shape::Positive:
    if (Value.is_number() && Value > 0)
      return std::nullopt;
    return "expected a number above 0";
  case Shape::Limit:
    if (Value.is_number() || Value.is_boolean())
      return std::nullopt;
    return "expected a number";
  case Shape::String:
    if (Value.is_string())
      return std::nullopt;
    return "expected a string";
  case Shape::Strings:
    if (Value.is_array() && All([](const Json &V) { return V.is_string(); }))
      return std::nullopt;
    return "expected an array of strings";
  case Shape::Boolean:
    if (Value.is_boolean())
      return std::nullopt;
    return "expected true or false";
  case Shape::List:
    if (Value.is_array())
      return std::nullopt;
    return "expected an array";
  }
  return std::nullopt;
}

/// Why the keyword `Name`, which is not enforced, is not an annotation either:
/// JSON Schema (core, 2020-12, 6.5) says that all unknown ones are, but some
/// are meant to count.
static std::optional<std::string> notAnAnnotation(std::string_view Name) {
  // Extensions that say that they are, and comments.
  if (isAmong(Name, Annotations) || Name.starts_with("x-") ||
      Name.starts_with("_"))
    return std::nullopt;
  if (Name.starts_with("$") || isAmong(Name, KeywordsOfOthers))
    return "is not a keyword that is supported";
  if (const Keyword *Meant = misspelled(Name))
    return "is not a keyword: expected '" + std::string(Meant->Name) +
           "', or a name that is less like it";
  return std::nullopt;
}

bool SchemaReader::checkKeywords(SchemaId Id) {
  for (const auto &[Key, Value] : Source.at(Id).items()) {
    auto Found = std::find_if(std::begin(Keywords), std::end(Keywords),
                              [&](const Keyword &K) { return K.Name == Key; });
    if (Found == std::end(Keywords)) {
      if (std::optional<std::string> Why = notAnAnnotation(Key)) {
        failed(Id, Key, *Why);
        return false;
      }
      continue;
    }
    if (auto Expected = misfit(Value, Found->Form)) {
      failed(Id, Key, std::string(*Expected));
      return false;
    }
  }
  auto Needs = [&](const char *Key, const std::string &Why) {
    if (!has(Id, Key))
      return true;
    failed(Id, Key, Why);
    return false;
  };
  // The same name in another place, which a reference in a recursion may mean.
  if (has(Id, "$dynamicRef") && !has(Id, "$ref")) {
    Result<bool> Is = Source.isStatic(Id);
    if (!Is) {
      fail(Is.error());
      return false;
    }
    if (!*Is)
      return Needs("$dynamicRef",
                   "is not supported where its anchor is in several places");
  }
  for (const char *Key : {"dependentRequired", "dependencies"}) {
    if (!has(Id, Key))
      continue;
    const Json &Map = Source.at(Id)[Key];
    bool Fits = Map.is_object();
    for (const Json &Value : Map)
      Fits = Fits && ((Key[9] != 'R' && isSchema(Value)) ||
                      !misfit(Value, Shape::Strings));
    if (!Fits)
      return Needs(Key, "expected an object of arrays of strings");
  }
  return true;
}

std::optional<Decimal> SchemaReader::decimal(SchemaId Id,
                                             const std::string &Key) {
  std::optional<Decimal> D = Decimal::parse(Source.at(Id)[Key].dump());
  if (!D)
    failed(Id, Key, "is out of range: expected a number of fewer digits");
  return D;
}

std::optional<uint64_t> SchemaReader::count(SchemaId Id,
                                            const std::string &Key) {
  if (!has(Id, Key))
    return std::nullopt;
  const Json &Value = Source.at(Id)[Key];
  return Value.is_number_integer() ? Value.get<uint64_t>()
                                   : uint64_t(Value.get<double>());
}

uint8_t SchemaReader::types(SchemaId Id, bool &IsInteger) {
  static constexpr std::pair<std::string_view, uint8_t> Names[] = {
      {"null", NullType},     {"boolean", FalseType | TrueType},
      {"number", NumberType}, {"integer", NumberType},
      {"string", StringType}, {"array", ArrayType},
      {"object", ObjectType}};
  const Json &Value = Source.at(Id)["type"];
  std::vector<Json> Given;
  if (Value.is_array())
    Given.assign(Value.begin(), Value.end());
  else
    Given.push_back(Value);
  uint8_t Types = 0;
  bool HasInteger = false, HasNumber = false;
  for (const Json &One : Given) {
    auto Found =
        std::find_if(std::begin(Names), std::end(Names), [&](const auto &N) {
          return One.is_string() && One.get<std::string>() == N.first;
        });
    if (Found == std::end(Names)) {
      failed(
          Id, "type",
          "is " +
              printable(One.is_string() ? One.get<std::string>() : One.dump()) +
              ": expected null, boolean, number, integer, string, array or "
              "object");
      return 0;
    }
    Types |= Found->second;
    HasInteger |= Found->first == "integer";
    HasNumber |= Found->first == "number";
  }
  IsInteger = HasInteger && !HasNumber;
  return Types;
}

static const Decimal &one() {
  static const Decimal One = *Decimal::parse("1");
  return One;
}

void SchemaReader::leafNumber(SchemaId Id, Branch &B) {
  auto Bound = [&](const char *Key, const char *OpenKey, bool IsLow) {
    bool WasOpen = has(Id, OpenKey) && Source.at(Id)[OpenKey] == true;
    auto Add = [&](NumberBound Limit) {
      if (IsLow)
        B.Number.addLow(std::move(Limit));
      else
        B.Number.addHigh(std::move(Limit));
    };
    if (has(Id, Key))
      if (auto D = decimal(Id, Key))
        Add({*D, WasOpen});
    if (has(Id, OpenKey) && Source.at(Id)[OpenKey].is_number())
      if (auto D = decimal(Id, OpenKey))
        Add({*D, true});
  };
  Bound("minimum", "exclusiveMinimum", true);
  Bound("maximum", "exclusiveMaximum", false);
  if (has(Id, "multipleOf"))
    if (auto D = decimal(Id, "multipleOf"))
      B.Number.Multiples.push_back({*D, false});
}

std::optional<NodeId> SchemaReader::pattern(SchemaId Id,
                                            const std::string &Keyword,
                                            const std::string &Text) {
  Result<NodeId> Made = parseRegex(Pool, Text, true);
  if (Made)
    return *Made;
  failed(Id, Keyword, Made.error().message());
  return std::nullopt;
}

std::optional<NodeId> SchemaReader::format(SchemaId Id) {
  auto Name = Source.at(Id)["format"].get<std::string>();
  if (!AssertsFormat)
    return std::nullopt;
  FormatMeaning Meaning = meaningOf(Name);
  if (Meaning.IsAnnotation)
    return std::nullopt;
  if (!Meaning.Pattern) {
    failed(Id, "format",
           "is " + printable(Name) +
               ": expected a format that is supported, or formats as "
               "annotations");
    return std::nullopt;
  }
  Result<NodeId> Made = parseRegex(Pool, *Meaning.Pattern, false);
  if (Made)
    return *Made;
  failed(Id, "format", Made.error().message());
  return std::nullopt;
}

void SchemaReader::leafString(SchemaId Id, Branch &B) {
  uint64_t Min = count(Id, "minLength").value_or(0);
  uint64_t Max = count(Id, "maxLength").value_or(NoLimit);
  constexpr uint64_t Longest = 1u << 30;
  if (Min > Longest) {
    failed(Id, "minLength", "expected at most " + std::to_string(Longest));
    return;
  }
  if (Min > Max) {
    B.String = RegexPool::Nothing;
    return;
  }
  uint32_t To = Max > Longest ? RegexPool::Unbounded : uint32_t(Max);
  B.String = Pool.anyOfLength(uint32_t(Min), To);
  if (has(Id, "pattern"))
    if (auto P = pattern(Id, "pattern", Source.at(Id)["pattern"]))
      B.String = Pool.intersect(B.String, *P);
  if (has(Id, "format"))
    if (auto P = format(Id))
      B.String = Pool.intersect(B.String, *P);
  if (!Failure && !Pool.live(B.String))
    B.String = RegexPool::Nothing;
  if (Pool.exhausted())
    failed(Id, has(Id, "pattern") ? "pattern" : "",
           "makes too many states together with what else holds");
}

void SchemaReader::leafArray(SchemaId Id, Branch &B) {
  ArraySpec::Group G;
  bool HasArray = has(Id, "items") && Source.at(Id)["items"].is_array();
  for (const char *Key : {"prefixItems", HasArray ? "items" : ""})
    if (has(Id, Key))
      for (size_t I = 0; I < Source.at(Id)[Key].size(); ++I)
        G.Prefix.push_back({positive(Source.child(Id, Key, I))});
  if (has(Id, "items") && !HasArray)
    G.Items = Literals{positive(Source.child(Id, "items"))};
  if (HasArray && has(Id, "additionalItems"))
    G.Items = Literals{positive(Source.child(Id, "additionalItems"))};
  if (!G.Prefix.empty() || G.Items)
    B.Array.Groups.push_back(std::move(G));
  B.Array.Min = count(Id, "minItems").value_or(0);
  B.Array.Max = count(Id, "maxItems").value_or(NoLimit);
  if (has(Id, "contains")) {
    Literal What = positive(Source.child(Id, "contains"));
    B.Array.Contains.push_back({Id,
                                {What},
                                {What + 1},
                                count(Id, "minContains").value_or(1),
                                count(Id, "maxContains").value_or(NoLimit)});
    B.Array.EvaluatesContained = true;
  }
  if (has(Id, "uniqueItems") && Source.at(Id)["uniqueItems"] == true)
    B.Array.UniqueAt = Id;
}

void SchemaReader::leafObject(SchemaId Id, Branch &B) {
  ObjectSpec &O = B.Object;
  ObjectSpec::Group G;
  const Json &Value = Source.at(Id);
  if (has(Id, "properties"))
    for (const auto &[Name, Sub] : Value["properties"].items())
      G.Named.push_back(
          {Name, {positive(Source.child(Id, "properties", Name))}});
  if (has(Id, "patternProperties"))
    for (const auto &[Text, Sub] : Value["patternProperties"].items())
      if (auto P = pattern(Id, "patternProperties", Text))
        G.Patterns.push_back(
            {*P, {positive(Source.child(Id, "patternProperties", Text))}});
  if (has(Id, "additionalProperties"))
    G.Others = Literals{positive(Source.child(Id, "additionalProperties"))};
  if (!G.Named.empty() || !G.Patterns.empty() || G.Others)
    O.Groups.push_back(std::move(G));
  if (has(Id, "required"))
    for (const Json &Name : Value["required"])
      O.Required.push_back(Name);
  for (const char *Key : {"dependentRequired", "dependencies"})
    if (has(Id, Key))
      for (const auto &[Name, Others] : Value[Key].items())
        if (Others.is_array())
          for (const Json &Other : Others)
            O.Dependent.push_back({Name, Other});
  if (has(Id, "propertyNames"))
    O.Names = {positive(Source.child(Id, "propertyNames"))};
  O.Min = count(Id, "minProperties").value_or(0);
  O.Max = count(Id, "maxProperties").value_or(NoLimit);
}

/// What the keywords of the schema itself say, but for "enum" and "const".
Branch SchemaReader::leaf(SchemaId Id) {
  Branch B;
  bool IsInteger = false;
  if (has(Id, "type"))
    B.Types = types(Id, IsInteger);
  if (IsInteger)
    B.Number.Multiples.push_back({one(), false});
  leafNumber(Id, B);
  leafString(Id, B);
  leafArray(Id, B);
  leafObject(Id, B);
  if (Failure)
    B.Types = 0;
  // Leaves out the types that cannot be.
  return intersect(Pool, B, Branch());
}

SchemaId SchemaReader::constant(const Json &Value, SchemaId For) {
  Json Made = Json::object();
  if (Value.is_array()) {
    Made["type"] = "array";
    Made["minItems"] = Value.size();
    Made["maxItems"] = Value.size();
    Json Items = Json::array();
    for (const Json &Item : Value)
      Items.push_back(Json{{"const", Item}});
    if (!Items.empty())
      Made["prefixItems"] = std::move(Items);
  } else {
    Made["type"] = "object";
    Made["maxProperties"] = Value.size();
    Json Properties = Json::object(), Required = Json::array();
    for (const auto &[Key, Item] : Value.items()) {
      Properties[Key] = Json{{"const", Item}};
      Required.push_back(Key);
    }
    Made["properties"] = std::move(Properties);
    Made["required"] = std::move(Required);
  }
  return Source.add(std::move(Made), For);
}

/// Of "enum" and "const".
Branches SchemaReader::values(SchemaId Id) {
  Branches All{Branch()};
  for (const char *Key : {"enum", "const"}) {
    if (!has(Id, Key))
      continue;
    const Json &Given = Source.at(Id)[Key];
    Branch Scalars = Branch::of(0);
    std::vector<std::u32string> Words;
    std::vector<Decimal> Numbers;
    Branches Ways;
    auto Add = [&](const Json &Value) {
      if (Value.is_null()) {
        Scalars.Types |= NullType;
      } else if (Value.is_boolean()) {
        Scalars.Types |= Value.get<bool>() ? TrueType : FalseType;
      } else if (Value.is_string()) {
        Words.push_back(codesOf(Value.get_ref<const std::string &>()));
        if (Words.back().size() > 10'000)
          failed(Id, Key, "holds a string of more than 10000 characters");
      } else if (Value.is_number()) {
        if (auto D = Decimal::parse(Value.dump()))
          Numbers.push_back(*D);
        else
          failed(Id, Key, "holds a number of too many digits");
      } else {
        add(Ways, branches(positive(constant(Value, Id)), false), Id);
      }
    };
    if (Key[0] == 'c')
      Add(Given);
    else
      for (const Json &Value : Given)
        if (!Failure)
          Add(Value);
    if (Failure)
      return {};
    if (!Words.empty()) {
      Scalars.Types |= StringType;
      Scalars.String = Pool.words(std::move(Words));
    }
    if (!Numbers.empty()) {
      Scalars.Types |= NumberType;
      std::sort(Numbers.begin(), Numbers.end());
      Numbers.erase(std::unique(Numbers.begin(), Numbers.end()), Numbers.end());
      Scalars.Number.Values = std::move(Numbers);
    }
    if (Scalars.Types)
      Ways.push_back(std::move(Scalars));
    All = both(All, Ways, Id);
  }
  return All;
}
